;; Exports the right names with the wrong types.
(module
  (memory (export "memory") 1)
  (func (export "alloc") (param i64) (result i64) (local.get 0))
  (func (export "call") (param i32) (result i32) (local.get 0))
  (func (export "assess") (result i32) (i32.const 0))
)
