/// The comparison of the objects of a database with those that the ledger defines.
///
/// A trigger is code that runs at each write, and a missing index or constraint breaks a promise of the ledger. So each object has
/// to be the ledger's own, unchanged.
enum DefinitionDifferences {
    /// The largest number of reported differences.
    private static let maximumReported = 20

    /// - Parameters:
    ///   - found: The definition of each object of the database, by its kind and name.
    ///   - defined: The definition of each object by the ledger.
    /// - Returns: A sentence for each difference.
    static func sentences(found: [String: String], defined: [String: String]) -> [String] {
        let names = Set(found.keys).union(defined.keys).sorted()
        let sentences = names.compactMap { name -> String? in
            switch (found[name], defined[name]) {
            case (_?, nil): "The \(name) does not belong to a ledger."
            case (nil, _?): "The \(name) is missing."
            case (let found, let defined):
                found == defined ? nil : "The \(name) is not as Till defines it."
            }
        }
        return Array(sentences.prefix(maximumReported))
    }

    /// A name from the database in quotes, safe for a terminal.
    static func quoted(_ name: String) -> String {
        let bytes = name.utf8.prefix(64).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
        return "\"" + String(decoding: bytes, as: UTF8.self) + "\""
    }
}
