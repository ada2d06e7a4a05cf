// Package rules holds what the calls of a session are judged by, as it changes over time:
// settings, rules that a person gave, grants, the permission mode, the working directory
// and the plugins whose names the rules use.
//
// A [View] is all of that at one moment. It never changes, and one decision uses one view.
// A [State] has the view in force and replaces it; a [Compiler] makes the policy of a view
// out of settings. [Apply] puts settings into force for many sessions at once. The package
// knows neither hosts nor turns nor calls.
package rules
