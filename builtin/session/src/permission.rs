//! The tool TestingPermission.

use serde::Deserialize;
use toolquay::{AssessContext, Assessment, Output, Schema, Verdict, tool};

#[derive(Deserialize, Schema)]
pub struct PermissionInput {}

/// Does nothing but have the user asked for permission. For tests of that.
#[tool(name = "TestingPermission", assess = asks)]
pub fn testing_permission(_input: PermissionInput) -> Output {
    Output::text("The permission was given, and the tool ran.")
}

fn asks(_input: &PermissionInput, _cx: &AssessContext) -> Assessment {
    Assessment::new().check(Verdict::Ask, "it tests how permission is asked for").rendering("asks for a permission")
}
