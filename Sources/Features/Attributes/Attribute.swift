import Ledger
import Proofs
import Vocabulary

/// The last statement about an attribute of a customer.
package struct Attribute: Hashable, Sendable {
    /// The maximum length of a name, in bytes of UTF-8: 40 characters.
    package static let maximumNameLength = 160
    /// The maximum length of a value, in bytes of UTF-8: 500 characters.
    package static let maximumValueLength = 2000
    /// The maximum number of a customer's attributes. As many removed ones are remembered.
    package static let maximumCount = 100

    /// The name. Names that begin with a dollar sign, such as `$email`, are reserved for personal data.
    package let name: String
    /// Nil for a removed attribute.
    package let value: String?
    package private(set) var statedAt: Timestamp
    /// True for a statement with the public key of an app, which proves nobody's identity.
    package let isPublic: Bool

    /// - Throws: `AttributeError`, `nameInvalid` or `valueInvalid`.
    package init(name: String, value: String?, statedAt: Timestamp, isPublic: Bool = false) throws(AttributeError) {
        guard (1...Self.maximumNameLength).contains(name.utf8.count), Self.isPrintable(name) else {
            throw .nameInvalid(String(name.unicodeScalars.prefix(40)))
        }
        guard value.map({ $0.utf8.count <= Self.maximumValueLength && Self.isText($0) }) ?? true else {
            throw .valueInvalid(name: name)
        }
        self.name = name
        self.value = value
        self.statedAt = statedAt
        self.isPublic = isPublic
    }

    /// The statement in the next columns: the name, the value, its time, and whether it is public.
    init(_ row: inout ResultRow) throws {
        (name, value, statedAt, isPublic) = (try row.next(), try row.next(), try row.next(), try row.next())
    }

    /// True if the name is reserved for personal data.
    package var isPersonal: Bool { name.utf8.first == UInt8(ascii: "$") }

    /// True if a name has characters that are seen, and no others. RevenueCat's have letters, digits and underscores.
    private static func isPrintable(_ name: String) -> Bool {
        name.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: false
            default: !scalar.properties.isDefaultIgnorableCodePoint
            }
        }
    }

    /// True if a value has no control characters but tabs and line breaks. Joiners and marks of direction belong to the texts of many
    /// languages.
    private static func isText(_ value: String) -> Bool {
        value.unicodeScalars.allSatisfy {
            $0.properties.generalCategory != .control || $0 == "\t" || $0 == "\n" || $0 == "\r"
        }
    }

    package static func == (left: Attribute, right: Attribute) -> Bool {
        left.key == right.key && left.value.map { ByteKey($0) } == right.value.map { ByteKey($0) }
            && left.statedAt == right.statedAt && left.isPublic == right.isPublic
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(statedAt)
    }

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
        var attribute = self
        attribute.statedAt = min(statedAt, moment)
        return attribute
    }
}

extension [Attribute] {
    /// The known statements, of which no time is later than a moment: a clock that was ahead would decide until then.
    func known(at moment: Timestamp) -> [Attribute] {
        map { $0.statedAt > moment ? $0.received(at: moment.adding(milliseconds: -1)) : $0 }
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
    var bytes: Int {
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
        // An attribute that one app has removed stays stated by the others.
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

package enum AttributeError: RuledError, Equatable {
    /// - Parameter name: The beginning of the name.
    case nameInvalid(String)
    case valueInvalid(name: String)
    case tooMany

    package var rule: ErrorRule {
        switch self {
        case .nameInvalid(let name):
            ErrorRule(
                "attributeNameInvalid", .unprocessable,
                "\"\(name)\" is not an attribute's name. Use 1 to \(Attribute.maximumNameLength) bytes, without control or "
                    + "invisible characters.",
                korean: "쓸 수 없는 속성 이름입니다. 제어 문자와 보이지 않는 문자 없이 1~\(Attribute.maximumNameLength)바이트로 입력하세요.")
        case .valueInvalid(let name):
            ErrorRule(
                "attributeValueInvalid", .unprocessable,
                "The value of \"\(name)\" is too long or has control characters. Use at most "
                    + "\(Attribute.maximumValueLength) bytes, and no control characters but tabs and line breaks.",
                korean: "속성의 값이 너무 길거나 제어 문자가 있습니다. 탭과 줄 바꿈 외의 제어 문자 없이 \(Attribute.maximumValueLength)바이트까지 입력하세요.")
        case .tooMany:
            ErrorRule(
                "attributesTooMany", .unprocessable,
                "A customer has at most \(Attribute.maximumCount) attributes. Remove some, or use fewer names.",
                korean: "고객의 속성은 \(Attribute.maximumCount)개까지입니다. 일부를 지우거나 이름을 줄이세요.")
        }
    }
}
