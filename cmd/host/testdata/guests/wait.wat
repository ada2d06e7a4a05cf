;; Waits for hours, without work: what asks for task.sleep and never ends.
(module
  (import "toolquay:host/1" "submit" (func $submit (param i32 i32) (result i32)))
  (import "toolquay:host/1" "wait" (func $wait (param i32 i32) (result i64)))
  (memory (export "memory") 1)
  (data (i32.const 512) "\01\00\00\00\3a\00\00\00{\22capability\22:\22task.sleep\22,\22args\22:{\22duration_ms\22:3600000}}")
  (func (export "alloc") (param i32) (result i32) (i32.const 4096))
  (func (export "call") (param i32 i32) (result i64)
    (i32.store (i32.const 1024) (call $submit (i32.const 512) (i32.const 66)))
    (drop (call $wait (i32.const 1024) (i32.const 1)))
    (unreachable))
)
