;; Its alloc answers with a pointer outside its memory.
(module
  (memory (export "memory") 1)
  (func (export "alloc") (param i32) (result i32) (i32.const 0x7fff0000))
  (func (export "call") (param i32 i32) (result i64) (i64.const 274877906945))
)
