;; Makes two capability calls, waits for the second alone, and answers "ok" while
;; the first is under way.
(module
  (import "toolquay:host/1" "submit" (func $submit (param i32 i32) (result i32)))
  (import "toolquay:host/1" "wait" (func $wait (param i32 i32) (result i64)))
  (memory (export "memory") 1)
  (data (i32.const 64) "\01\00\00\003\00\00\00{\22content\22:[{\22type\22:\22text\22,\22source\22:[{\22part\22:0}]}]}\02\00\00\00\02\00\00\00ok")
  (data (i32.const 512) "\01\00\00\00)\00\00\00{\22capability\22:\22test.echo\22,\22args\22:{\22n\22:1}}")
  (data (i32.const 640) "\01\00\00\00)\00\00\00{\22capability\22:\22test.echo\22,\22args\22:{\22n\22:2}}")
  (func (export "alloc") (param i32) (result i32) (i32.const 4096))
  (func (export "call") (param i32 i32) (result i64)
    (drop (call $submit (i32.const 512) (i32.const 49)))
    (i32.store (i32.const 1024) (call $submit (i32.const 640) (i32.const 49)))
    (drop (call $wait (i32.const 1024) (i32.const 1)))
    (i64.const 274877907013))
)
