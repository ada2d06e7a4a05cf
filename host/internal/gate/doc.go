// Package gate decides whether a tool call, or something that a running call asks for,
// may happen: by the rules, by what a person has approved already, by a judge, and by
// asking a person.
//
// It knows neither calls nor sessions nor how anything is carried out. A [Subject] says
// what is to be decided, and a [Gate] puts it through
//
//  1. [permissions.Decide], on the rules as they are at that moment;
//  2. the [Judge], where only its answer would change the decision;
//  3. the [Log], before the decision takes effect;
//  4. the [Asker], where the decision is to ask. The question is withdrawn as soon as the
//     rules come to decide it.
//
// What the package needs from its surroundings are the small interfaces in this file's
// neighbours: [Policies], [Files], [Log], [Judge] and [Asker].
package gate
