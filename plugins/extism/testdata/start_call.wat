;; A guest whose start function asks for its configuration, long before there is
;; a call. Built by
;;   wat2wasm start_call.wat -o start_call.wasm
(module
  (import "extism:host/env" "config_get" (func $config_get (param i64) (result i64)))
  (memory (export "memory") 1)
  (func $start (drop (call $config_get (i64.const 100))))
  (start $start)
  (func (export "echo") (result i32) (i32.const 0)))
