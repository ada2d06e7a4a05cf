;; Reports half of its work as done, makes one capability call and answers with the
;; body of its answer, unread.
(module
  (import "toolquay:host/1" "progress" (func $progress (param i32 i32)))
  (import "toolquay:host/1" "submit" (func $submit (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 64) "\01\00\00\005\00\00\00{\22content\22:[{\22type\22:\22text\22,\22source\22:[{\22handle\22:1}]}]}")
  (data (i32.const 512) "\01\00\00\00)\00\00\00{\22capability\22:\22test.echo\22,\22args\22:{\22n\22:1}}")
  (data (i32.const 768) "\01\00\00\00#\00\00\00{\22progress\22:{\22done\22:0.5,\22total\22:1}}")
  (func (export "alloc") (param i32) (result i32) (i32.const 4096))
  (func (export "call") (param i32 i32) (result i64)
    (call $progress (i32.const 768) (i32.const 43))
    (drop (call $submit (i32.const 512) (i32.const 49)))
    (i64.const 274877907005))
)
