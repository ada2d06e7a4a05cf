// Package searches tells whether a command that reads whole trees meets anything there
// that rules withhold. What cannot be found out counts as meeting something: then a person
// is asked.
package searches
