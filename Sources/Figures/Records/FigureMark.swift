/// A write for a user that the sums lack.
struct FigureMark: Sendable {
    let user: Int64
    let version: Int64
}
