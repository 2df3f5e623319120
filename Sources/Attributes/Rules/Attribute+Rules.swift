import Commerce

extension Attribute {
    var key: ByteKey { ByteKey(name) }

    /// True if this statement supersedes another about the same attribute. The newer one does. Of two of the same millisecond,
    /// the one with the greater bytes does, and a removal never does.
    func supersedes(_ other: Attribute) -> Bool {
        if statedAt != other.statedAt { return statedAt > other.statedAt }
        guard let value else { return false }
        return other.value.map { ByteKey($0) < ByteKey(value) } ?? true
    }

    /// The statement with the time of its receipt, if it claims a later one. Otherwise a device whose clock is ahead would
    /// decide for years.
    func received(at moment: Timestamp) -> Attribute {
        Attribute(stored: name, value: value, statedAt: min(statedAt, moment))
    }
}

extension [Attribute] {
    /// The attributes that change by further statements. Statements in any order and with any repetition lead to the same
    /// attributes.
    ///
    /// - Throws: `AttributeError.tooMany`; nothing changes then.
    func changes(by statements: [Attribute]) throws(AttributeError) -> [Attribute] {
        let (changes, total) = newest(with: statements)
        guard total <= Swift.max(Attribute.maximumCount, count) else { throw .tooMany }
        return changes
    }

    /// The attributes that change by further statements, and the number of all attributes then.
    func newest(with statements: [Attribute]) -> (changes: [Attribute], count: Int) {
        let before = Dictionary(map { ($0.key, $0) }) { first, _ in first }
        var after = before
        for statement in statements where after[statement.key].map({ statement.supersedes($0) }) ?? true {
            after[statement.key] = statement
        }
        let changes = after.filter { before[$0.key] != $0.value }.sorted { $0.key < $1.key }.map(\.value)
        return (changes, after.count)
    }
}
