import Entitlements
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Tasks that answer a question.
@Suite struct ReadOnlyTaskTests {
    @Test func `a task that answers a question writes nothing`() async throws {
        let folder = try TemporaryFolder()
        let ledger = try Ledger(file: folder.file("ledger.sqlite"))
        let alice = try #require(User(name: "alice"))
        let moment = ManualClock().now()
        await ReadOnlyTask.$isCurrent.withValue(true) {
            await #expect(throws: (any Error).self) {
                try await ledger.write { try $0.makeAppAccountToken(of: alice, at: moment) }
            }
        }
        #expect(try await ledger.read { try $0.users.known(alice) } == nil)
        // A child of such a task neither.
        await ReadOnlyTask.$isCurrent.withValue(true) {
            await #expect(throws: (any Error).self) {
                try await Task { try await ledger.write { try $0.makeAppAccountToken(of: alice, at: moment) } }.value
            }
        }
        #expect(try await ledger.read { try $0.users.known(alice) } == nil)
        _ = try await ledger.write { try $0.makeAppAccountToken(of: alice, at: moment) }
        #expect(try await ledger.read { try $0.users.known(alice) } != nil)
    }

    @Test func `a position counts for half a day, and another text is none`() throws {
        let day = 86_400 as Int64
        func moment(after seconds: Int64) -> Timestamp { Timestamp(secondsSince1970: 1_790_000_000 + seconds) }
        let position = LedgerPosition(token: [UInt8](200..<216), at: moment(after: 0))
        #expect(LedgerPosition(position.text, at: moment(after: day / 2 - 1)) == position)
        #expect(LedgerPosition(position.text, at: moment(after: day / 2)) == nil)
        #expect(position.allowsStandbys(at: moment(after: 0)))
        for text in ["", "*", String(repeating: "*", count: 32), position.text + "A"] {
            #expect(LedgerPosition(text, at: moment(after: 0)) == nil)
        }
        let primary = LedgerPosition(LedgerPosition.ofPrimary(at: moment(after: 0)).text, at: moment(after: day / 4))
        #expect(primary?.allowsStandbys(at: moment(after: day / 4)) == false)
    }

    /// Another service may have committed what the answer shows. A standby that may answer is at most ten seconds behind.
    @Test func `standbys answer only later after what an answer has shown`() throws {
        let moment = Timestamp(secondsSince1970: 1_790_000_000)
        let shown = LedgerPosition(token: [UInt8](200..<216), at: moment.adding(days: -1)).showing(allBefore: moment)
        let stated = try #require(LedgerPosition(shown.text, at: moment))
        #expect(stated == shown)
        #expect(!stated.allowsStandbys(at: Timestamp(secondsSince1970: 1_790_000_029)))
        #expect(stated.allowsStandbys(at: Timestamp(secondsSince1970: 1_790_000_030)))
    }
}
