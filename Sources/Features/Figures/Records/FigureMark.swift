/// A write for a user that the sums do not include yet.
struct FigureMark: Sendable {
    let user: Int64
    let version: Int64
}
