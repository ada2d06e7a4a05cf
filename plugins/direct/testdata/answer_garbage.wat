;; Answers with bytes that are no frame.
(module
  (memory (export "memory") 1)
  (data (i32.const 64) "this is not a frame")
  (func (export "alloc") (param i32) (result i32) (i32.const 4096))
  (func (export "call") (param i32 i32) (result i64) (i64.const 274877906963))
)
