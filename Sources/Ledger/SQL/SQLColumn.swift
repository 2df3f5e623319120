/// A column of rows that are inserted together, with the kind of its values.
package enum SQLColumn: Hashable, Sendable {
    case text(String)
    case integer(String)
    case blob(String)

    package var name: String {
        switch self {
        case .text(let name), .integer(let name), .blob(let name): name
        }
    }
}
