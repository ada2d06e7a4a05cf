;; A module that imports what Extism modules do not get.
(module
  (import "env" "system" (func (param i32) (result i32)))
  (import "extism:host/user" "other" (func))
  (memory (export "memory") 1)
  (func (export "echo") (result i32) (i32.const 0)))
