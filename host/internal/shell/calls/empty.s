// Functions without a body, as those linked in child.go, need an assembly file in their package.
