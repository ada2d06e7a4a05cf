;; Has an assess that finds every input invalid.
(module
  (memory (export "memory") 1)
  (data (i32.const 64) "\01\00\00\003\00\00\00{\22content\22:[{\22type\22:\22text\22,\22source\22:[{\22part\22:0}]}]}\02\00\00\00\02\00\00\00ok")
  (data (i32.const 512) "\01\00\00\00\5c\00\00\00{\22read_only\22:true,\22concurrency_safe\22:false,\22invalid\22:{\22message\22:\22not on a Friday\22,\22code\22:7}}")
  (func (export "alloc") (param i32) (result i32) (i32.const 4096))
  (func (export "call") (param i32 i32) (result i64) (i64.const 274877907013))
  (func (export "assess") (param i32 i32) (result i64) (i64.const 2199023255652))
)
