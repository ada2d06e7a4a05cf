;; Makes a capability call with a part, writes over that part, and hands the body
;; of the answer on, unread.
(module
  (import "toolquay:host/1" "submit" (func $submit (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 64) "\01\00\00\005\00\00\00{\22content\22:[{\22type\22:\22text\22,\22source\22:[{\22handle\22:1}]}]}")
  (data (i32.const 512) "\01\00\00\00\1a\00\00\00{\22capability\22:\22test.echo\22}\01\00\00\00\06\00\00\00before")
  (func (export "alloc") (param i32) (result i32) (i32.const 4096))
  (func (export "call") (param i32 i32) (result i64)
    (drop (call $submit (i32.const 512) (i32.const 48)))
    (memory.fill (i32.const 512) (i32.const 0x78) (i32.const 48))
    (i64.const 274877907005))
)
