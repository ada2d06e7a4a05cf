;; The baseline: what a guest costs with nothing around it. get asks the host to
;; write n bytes into memory.
(module
  (import "bench" "fill" (func $fill (param i32 i32) (result i32)))
  (memory (export "memory") 34)
  (func (export "get") (param $n i32) (result i32)
    (call $fill (i32.const 65536) (local.get $n))))
