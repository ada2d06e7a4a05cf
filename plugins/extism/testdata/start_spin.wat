;; A guest whose start function never ends. Built by
;;   wat2wasm start_spin.wat -o start_spin.wasm
(module
  (memory (export "memory") 1)
  (func $start (loop $l (br $l)))
  (start $start)
  (func (export "start_spin") (result i32) (i32.const 0)))
