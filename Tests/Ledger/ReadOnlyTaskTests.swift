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
}
