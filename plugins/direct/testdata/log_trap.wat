;; Logs a dozen lines and a panic as Rust's SDK does, and then traps.
(module
  (import "toolquay:host/1" "progress" (func $progress (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 512) "\01\00\00\00/\00\00\00{\22log\22:{\22level\22:\22info\22,\22message\22:\22still here\22}}")
  (data (i32.const 640) "\01\00\00\00\4e\00\00\00{\22log\22:{\22level\22:\22error\22,\22message\22:\22panicked at src/lib.rs:4:5:\5cnno such row\22}}")
  (func (export "alloc") (param i32) (result i32) (i32.const 4096))
  (func (export "call") (param i32 i32) (result i64)
    (local $n i32)
    (local.set $n (i32.const 12))
    (loop $again
      (call $progress (i32.const 512) (i32.const 55))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (call $progress (i32.const 640) (i32.const 86))
    (unreachable))
)
