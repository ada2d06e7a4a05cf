// Package toolset decides which tools a model is offered, and writes their definitions
// for model APIs.
//
// A [Set] is what a session offers at one moment: the tools in an order that depends on
// nothing else, with the less urgent ones deferred where there are many. [Known]
// remembers what the session's model was told of them.
package toolset
