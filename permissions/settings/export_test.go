package settings

// FollowSettling is [Follow] with another time that a loss must stand.
var FollowSettling = follow
