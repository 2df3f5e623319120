import Ledger

/// The conditions and arguments of a list.
struct Filter {
    private var conditions: [String] = []
    private(set) var arguments: [any SQLConvertible] = []

    var clause: String { conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))" }

    mutating func add(_ condition: String, _ argument: (any SQLConvertible)? = nil) {
        conditions.append(argument.map { "\(condition) \(next($0))" } ?? condition)
    }

    mutating func addPosition(_ columns: String, _ position: [any SQLConvertible]) {
        conditions.append("(\(columns)) < (\(position.map { next($0) }.joined(separator: ", ")))")
    }

    /// Adds an argument, and returns its parameter.
    mutating func next(_ argument: any SQLConvertible) -> String {
        arguments.append(argument)
        return "$\(arguments.count)"
    }
}
