;; Answers with a pointer outside its memory.
(module
  (memory (export "memory") 1)
  (func (export "alloc") (param i32) (result i32) (i32.const 4096))
  (func (export "call") (param i32 i32) (result i64) (i64.const 562949953421328))
)
