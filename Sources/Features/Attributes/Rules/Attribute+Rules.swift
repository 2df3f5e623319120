import Proofs

extension Attribute {
    var key: ByteKey { ByteKey(name) }

    /// True if this statement supersedes another about the same attribute. A value of the team supersedes those of public callers,
    /// and they never supersede it. Otherwise the newer statement does. Of two of the same millisecond, the team's does, then the
    /// one with the greater bytes, and a removal never.
    func supersedes(_ other: Attribute) -> Bool {
        if isPublic, !other.isPublic, other.value != nil { return false }
        if !isPublic, other.isPublic, value != nil { return true }
        if statedAt != other.statedAt { return statedAt > other.statedAt }
        if isPublic != other.isPublic { return !isPublic }
        guard let value else { return false }
        return other.value.map { ByteKey($0) < ByteKey(value) } ?? true
    }

    /// The statement with the time of its receipt, if it claims a later one. Otherwise a device whose clock is ahead would
    /// decide for years.
    func received(at moment: Timestamp) -> Attribute {
        Attribute(stored: name, value: value, statedAt: min(statedAt, moment), isPublic: isPublic)
    }
}

/// The rows of attributes that a statement or a merge changes.
struct AttributeUpdate {
    let written: [Attribute]
    /// Attributes without a place, and removed ones that are forgotten.
    let deleted: [Attribute]

    var isEmpty: Bool { written.isEmpty && deleted.isEmpty }

    /// The bytes by which the update enlarges the attributes of a user in the ledger, about; negative if they shrink.
    func growth(of attributes: [Attribute]) -> Int {
        let keys = Set((written + deleted).map(\.key))
        return written.bytes - attributes.filter { keys.contains($0.key) }.bytes
    }
}

extension [Attribute] {
    /// The bytes that the attributes take in the ledger, about.
    fileprivate var bytes: Int {
        reduce(0) { $0 + 100 + $1.name.utf8.count + ($1.value?.utf8.count ?? 0) }
    }

    /// The effect of further statements. Statements of one side, the team's or the public callers', lead to the same attributes in
    /// any order and with any repetition.
    ///
    /// The team's attributes take the places of those of public callers, so that a stranger cannot fill them.
    ///
    /// - Throws: `AttributeError.tooMany`; nothing changes then.
    func update(by statements: [Attribute]) throws(AttributeError) -> AttributeUpdate {
        let all = newest(with: statements)
        let isPublic = statements.contains(where: \.isPublic)
        func places(_ attributes: [Attribute]) -> Int {
            attributes.count { $0.value != nil && (isPublic || !$0.isPublic) }
        }
        guard places(all) <= Swift.max(Attribute.maximumCount, places(self)) else { throw .tooMany }
        return update(to: all)
    }

    /// The effect of a merge. All attributes of the team stay, and of those of public callers the newest that have a place.
    func merged(with moved: [Attribute]) -> AttributeUpdate { update(to: newest(with: moved)) }

    /// The attributes that stand by the statements of all sides, without removed ones, in the order of their names.
    var standing: [Attribute] {
        // What an app has removed stays stated by the others.
        let statements = filter { $0.value != nil || !$0.isPublic }
        return [Attribute]().newest(with: statements).filter { $0.value != nil }.sorted { $0.key < $1.key }
    }

    private func newest(with statements: [Attribute]) -> [Attribute] {
        var newest = Dictionary(map { ($0.key, $0) }) { first, _ in first }
        for statement in statements where newest[statement.key].map({ statement.supersedes($0) }) ?? true {
            newest[statement.key] = statement
        }
        return Array(newest.values)
    }

    private func update(to all: [Attribute]) -> AttributeUpdate {
        let ordered = all.sorted { $0.statedAt != $1.statedAt ? $0.statedAt > $1.statedAt : $0.key < $1.key }
        let team = ordered.filter { $0.value != nil && !$0.isPublic }
        let others = ordered.filter { $0.value != nil && $0.isPublic }
        let removed = ordered.filter { $0.value == nil }
        let kept =
            team + others.prefix(Swift.max(0, Attribute.maximumCount - team.count))
            + removed.prefix(Attribute.maximumCount)
        let before = Dictionary(map { ($0.key, $0) }) { first, _ in first }
        let keys = Set(kept.map(\.key))
        return AttributeUpdate(
            written: kept.filter { before[$0.key] != $0 }.sorted { $0.key < $1.key },
            deleted: filter { !keys.contains($0.key) })
    }
}
