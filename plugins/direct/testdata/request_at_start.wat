;; Makes a capability call, sound in itself, in its start function; would answer
;; "ok".
(module
  (import "toolquay:host/1" "submit" (func $submit (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 64) "\01\00\00\003\00\00\00{\22content\22:[{\22type\22:\22text\22,\22source\22:[{\22part\22:0}]}]}\02\00\00\00\02\00\00\00ok")
  (data (i32.const 512) "\01\00\00\00)\00\00\00{\22capability\22:\22test.echo\22,\22args\22:{\22n\22:1}}")
  (func (export "alloc") (param i32) (result i32) (i32.const 4096))
  (func $start (drop (call $submit (i32.const 512) (i32.const 49))))
  (start $start)
  (func (export "call") (param i32 i32) (result i64)
    (i64.const 274877907013))
)
