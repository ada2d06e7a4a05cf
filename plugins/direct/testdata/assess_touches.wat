;; Has an assess that says what the call reads and writes.
(module
  (memory (export "memory") 1)
  (data (i32.const 64) "\01\00\00\003\00\00\00{\22content\22:[{\22type\22:\22text\22,\22source\22:[{\22part\22:0}]}]}\02\00\00\00\02\00\00\00ok")
  (data (i32.const 512) "\01\00\00\005\00\00\00{\22touches\22:[{\22path\22:\22a\22},{\22path\22:\22/b\22,\22write\22:true}]}")
  (func (export "alloc") (param i32) (result i32) (i32.const 4096))
  (func (export "call") (param i32 i32) (result i64) (i64.const 274877907013))
  (func (export "assess") (param i32 i32) (result i64) (i64.const 2199023255613))
)
