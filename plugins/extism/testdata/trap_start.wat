;; A guest whose start function traps. Built by
;;   wat2wasm trap_start.wat -o trap_start.wasm
(module
  (memory (export "memory") 1)
  (func $start unreachable)
  (start $start)
  (func (export "trap_start") (result i32) (i32.const 0)))
