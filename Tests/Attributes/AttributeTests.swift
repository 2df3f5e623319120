import Entitlements
import Features
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The attributes of customers.
@Suite struct AttributeTests {
    private let clock = ManualClock()
    private let folder: TemporaryFolder
    private let ledger: Ledger
    private let mint: User

    init() throws {
        folder = try TemporaryFolder()
        ledger = try Ledger(file: folder.file("ledger.sqlite"))
        mint = try #require(User(name: "mint"))
    }

    private func attribute(
        _ name: String,
        _ value: String?,
        _ seconds: Int64,
        isPublic: Bool = false
    ) throws -> Attribute {
        try Attribute(name: name, value: value, statedAt: Timestamp(secondsSince1970: seconds), isPublic: isPublic)
    }

    /// States attributes as the team does, or with the public key of an app.
    private func state(_ attributes: [Attribute], of user: User) async throws {
        let app = attributes.contains(where: \.isPublic) ? "com.example.app" : nil
        try await ledger.write { [clock] in try $0.state(attributes, of: user, from: app, at: clock.now()) }
    }

    private func attributes(of user: User) async throws -> [Attribute] {
        try await ledger.read { try $0.attributes(of: user) }
    }

    private func words() async throws -> [String] {
        try await attributes(of: mint).map { "\($0.name) \($0.value ?? "-")" }
    }

    @Test func `the newest statement counts, in whatever order and however often statements come`() async throws {
        let statements = try [
            attribute("level", "1", 10), attribute("level", "3", 30), attribute("level", "2", 20),
            attribute("color", "red", 10), attribute("color", nil, 20), attribute("color", "blue", 15),
            attribute("tie", "a", 10), attribute("tie", "b", 10), attribute("tie", nil, 10),
            attribute("\u{E9}", "composed", 10), attribute("e\u{301}", "decomposed", 10),
        ]
        for seed in UInt64(0)..<40 {
            let user = try #require(User(name: "user\(seed)"))
            let dice = Dice(seed: seed)
            for statement in dice.shuffle(statements) + dice.shuffle(statements) {
                try await state([statement], of: user)
            }
            let stated = try await attributes(of: user).map { "\($0.name) \($0.value ?? "-")" }
            #expect(stated == ["e\u{301} decomposed", "level 3", "tie b", "\u{E9} composed"], "seed \(seed)")
        }
    }

    @Test func `a removed attribute is not brought back by an older statement`() async throws {
        try await state([attribute("level", "1", 10)], of: mint)
        try await state([attribute("level", nil, 30)], of: mint)
        try await state([attribute("level", "2", 20)], of: mint)
        #expect(try await words() == [])
        try await state([attribute("level", "4", 40)], of: mint)
        #expect(try await words() == ["level 4"])
    }

    @Test func `a statement received by a clock that was ahead does not outlive the right clock`() async throws {
        clock.advance(milliseconds: 864_000_000)
        let ahead = clock.now().millisecondsSince1970 / 1000
        try await state([attribute("level", "1", ahead)], of: mint)
        clock.advance(milliseconds: -864_000_000)
        try await state([attribute("level", "2", clock.now().millisecondsSince1970 / 1000)], of: mint)
        #expect(try await words() == ["level 2"])
    }

    @Test func `a time in the future becomes the present, so that a wrong clock does not decide for years`()
        async throws
    {
        let now = clock.now().millisecondsSince1970 / 1000
        try await state([attribute("level", "1", now + 1_000_000_000)], of: mint)
        #expect(try await attributes(of: mint).map(\.statedAt) == [clock.now()])
        clock.advance(milliseconds: 1000)
        try await state([attribute("level", "2", now + 1)], of: mint)
        #expect(try await words() == ["level 2"])
    }

    @Test func `a customer has at most 100 attributes, and too many change nothing`() async throws {
        let most = try (0..<Attribute.maximumCount).map { try attribute("name\($0)", "1", 10) }
        try await state(most, of: mint)
        await #expect(throws: AttributeError.tooMany) {
            try await state([attribute("name0", "2", 20), attribute("another", "1", 10)], of: mint)
        }
        #expect(try await words().count == Attribute.maximumCount)
        #expect(try await words().contains("name0 1"))
        try await state([attribute("name0", "2", 20)], of: mint)
        #expect(try await words().contains("name0 2"))
    }

    /// Each row: the statements, as the side, the value and the time, and the value after them in either order.
    @Test(
        arguments: [
            ([("team", "t", 10), ("public", "p", 20)], "t"), ([("team", "t", 10), ("public", nil, 20)], "t"),
            ([("team", nil, 10), ("public", "p", 20)], "p"), ([("team", nil, 20), ("public", "p", 10)], nil),
            ([("public", "p", 10), ("public", "q", 20)], "q"), ([("public", "p", 10), ("public", nil, 20)], nil),
        ] as [([(String, String?, Int64)], String?)])
    func `a public caller never changes a value of the team`(
        statements: [(side: String, value: String?, seconds: Int64)],
        expected: String?
    ) async throws {
        for (number, order) in [statements, statements.reversed()].enumerated() {
            let user = try #require(User(name: "user\(number)"))
            for statement in order + order {
                let isPublic = statement.side == "public"
                try await state(
                    [attribute("$email", statement.value, statement.seconds, isPublic: isPublic)], of: user)
            }
            #expect(try await attributes(of: user).first?.value == expected, "order \(number)")
        }
    }

    @Test(arguments: [true, false]) func `a removed attribute frees its place`(isPublic: Bool) async throws {
        // Far more names than places, one after the other.
        for round in Int64(0)..<5 {
            let names = (0..<Attribute.maximumCount).map { "round\(round) name\($0)" }
            try await state(
                names.map { try attribute($0, "1", round * 10 + 1, isPublic: isPublic) }, of: mint)
            await #expect(throws: AttributeError.tooMany) {
                try await state([attribute("another", "1", 1000, isPublic: isPublic)], of: mint)
            }
            try await state(
                names.map { try attribute($0, nil, round * 10 + 2, isPublic: isPublic) }, of: mint)
            #expect(try await words() == [])
        }
        // Removed attributes are bounded, too. The newest are remembered.
        #expect(
            try LedgerFile(folder.file("ledger.sqlite")).check().rows[isPublic ? "app_attribute" : "attribute"]
                == Attribute.maximumCount)
        try await state([attribute("round4 name7", "1", 41, isPublic: isPublic)], of: mint)
        #expect(try await words() == [])
    }

    @Test func `attributes of strangers take no places of the team`() async throws {
        let filled = try (0..<Attribute.maximumCount).map {
            try attribute("junk\(100 + $0)", "1", 1000 + Int64($0), isPublic: true)
        }
        try await state(filled, of: mint)
        let most = try (0..<Attribute.maximumCount).map { try attribute("name\(100 + $0)", "1", 10) }
        try await state(most, of: mint)
        #expect(try await words() == (filled + most).map { "\($0.name) 1" })
        await #expect(throws: AttributeError.tooMany) {
            try await state([attribute("another", "1", 5000, isPublic: true)], of: mint)
        }
    }

    /// A stranger can make any number of anonymous customers, and log each of them in.
    @Test func `merges fill no more places than there are`() async throws {
        try await state([attribute("level", "7", 10)], of: mint)
        for round in Int64(0)..<3 {
            let ghost = try #require(User(name: "ghost\(round)"))
            let names = (0..<Attribute.maximumCount).map { "round\(round) name\($0)" }
            try await state(
                names.map { try attribute($0, "1", 100 + round, isPublic: true) }, of: ghost)
            try await ledger.write { [clock, mint] transaction in
                let numbers = try [ghost, mint].map { try transaction.number(of: $0, at: clock.now()) }
                try transaction.mergeRows(of: numbers[0], into: numbers[1])
            }
            let words = try await words()
            #expect(words.count == Attribute.maximumCount + 1)
            #expect(words.contains("level 7"))
            #expect(words.count { $0.hasPrefix("round\(round)") } == Attribute.maximumCount)
        }
    }

    @Test(arguments: [
        "", String(repeating: "a", count: 161), "a\nb", "a\u{0}b", "\u{7F}", "a\u{9B}31m", "\u{202E}a", "a\u{2028}",
        "a\u{200B}", "\u{E0041}",
    ])
    func `a name that logs could not show is refused`(name: String) {
        #expect(throws: AttributeError.nameInvalid(String(name.prefix(40)))) { try attribute(name, "1", 1) }
    }

    @Test(arguments: [String(repeating: "a", count: 2001), "a\u{0}b", "\u{1B}[2J", "\u{7F}", "a\u{9B}31m"])
    func `a value that is too long or controls a terminal is refused`(value: String) throws {
        #expect(throws: AttributeError.valueInvalid(name: "level")) { try attribute("level", value, 1) }
        #expect(try attribute("level", String(repeating: "a", count: 2000), 1).value?.utf8.count == 2000)
        // A family of emoji, Persian with a joiner's counterpart, and a note of two lines.
        for text in ["👩‍👧", "می\u{200C}خواهم", "first\r\n\tsecond"] {
            #expect(try attribute("note", text, 1).value == text)
        }
    }

    @Test func `erasure deletes the attributes`() async throws {
        try await state([attribute("$email", "mint@example.com", 10)], of: mint)
        #expect(try await ledger.write { try $0.erase(mint, by: .user, at: clock.now()) })
        #expect(try await words() == [])
        #expect(try LedgerFile(folder.file("ledger.sqlite")).check().rows["attribute"] == 0)
    }
}
