;; Submits requests of 16 MiB without reading an answer, 32 in all, waits for the
;; last and answers "ok".
(module
  (import "toolquay:host/1" "submit" (func $submit (param i32 i32) (result i32)))
  (import "toolquay:host/1" "wait" (func $wait (param i32 i32) (result i64)))
  (memory (export "memory") 320)
  (data (i32.const 64) "\01\00\00\003\00\00\00{\22content\22:[{\22type\22:\22text\22,\22source\22:[{\22part\22:0}]}]}\02\00\00\00\02\00\00\00ok")
  (data (i32.const 1024) "\01\00\00\00)\00\00\00{\22capability\22:\22test.echo\22,\22args\22:{\22n\22:1}}")
  (func (export "alloc") (param i32) (result i32) (i32.const 4096))
  (func (export "call") (param i32 i32) (result i64)
    (local $n i32)
    ;; a part of bytes that fills the 16 MiB
    (i32.store (i32.const 1073) (i32.const 1))
    (i32.store (i32.const 1077) (i32.const 16777159))
    (local.set $n (i32.const 32))
    (loop $again
      (i32.store (i32.const 256) (call $submit (i32.const 1024) (i32.const 16777216)))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (drop (call $wait (i32.const 256) (i32.const 1)))
    (i64.const 274877907013))
)
