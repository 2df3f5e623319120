import Commerce
import Dispatch
import GRDB
import Ledger
import Server
import Synchronization
import TestSupport
import Testing

/// What arrives together shares a commit, and too much of it is turned away.
@Suite struct CommitQueueTests {
    let folder: TemporaryFolder
    let ledger: Ledger

    init() throws {
        folder = try TemporaryFolder()
        ledger = try Ledger(file: folder.file("ledger.sqlite"))
    }

    private final class Counter: Sendable {
        private let value = Mutex(0)

        var count: Int { value.withLock(\.self) }

        func increase() { value.withLock { $0 += 1 } }
    }

    /// Gives a user a grant of an identifier that another may have: then nothing is left of it, not even the user.
    private func give(_ identifier: String, to name: String) throws {
        let grant = Grant(
            identifier: identifier, item: Item(collection: "sprout", number: 1), reason: "r", grantedBy: "key",
            grantedAt: Timestamp(secondsSince1970: 1), endsAt: nil)
        try ledger.add(
            grant, for: try #require(User(name: name)), keeping: nil, for: nil, forgettingBefore: grant.grantedAt)
    }

    /// A user's account token, which is written at first sight.
    private func token(of name: String) throws -> String {
        try ledger.appAccountToken(of: try #require(User(name: name)), at: Timestamp(secondsSince1970: 1)).uuidString
    }

    @Test func whatWaitsSharesTheNextCommit() async throws {
        let commits = Counter()
        let queue = CommitQueue(ledger: ledger, onCommit: { _ in commits.increase() })
        let gate = DispatchSemaphore(value: 0)
        try give("given", to: "alice")
        try await withThrowingTaskGroup(of: String?.self) { group in
            let begun = Counter()
            group.addTask {
                try await queue.run {
                    begun.increase()
                    gate.wait()
                    return nil
                }
            }
            await expectEventually { begun.count == 1 }
            for number in 0..<50 {
                group.addTask {
                    do {
                        return try await queue.run {
                            guard number % 5 == 0 else { return try token(of: "user\(number)") }
                            try give("given", to: "user\(number)")
                            return nil
                        }
                    } catch is LedgerError {
                        return nil
                    }
                }
            }
            await expectEventually { queue.depth == 50 }
            gate.signal()
            var tokens: Set<String> = []
            for try await token in group { if let token { tokens.insert(token) } }
            #expect(tokens.count == 40)
        }
        #expect(commits.count == 2)
        // What failed left no trace.
        let database = try DatabaseQueue(path: folder.file("ledger.sqlite").path)
        let names = try await database.read { try String.fetchSet($0, sql: "SELECT name FROM user") }
        #expect(names == Set(["alice"] + (0..<50).filter { $0 % 5 != 0 }.map { "user\($0)" }))
    }

    @Test func whatIsTooMuchIsTurnedAwayAndNothingOfItDone() async throws {
        let queue = CommitQueue(ledger: ledger, maximumWaiting: 3)
        let gate = DispatchSemaphore(value: 0)
        let performed = Counter()
        await withTaskGroup(of: Bool.self) { group in
            let begun = Counter()
            group.addTask {
                let result: Void? = try? await queue.run {
                    begun.increase()
                    gate.wait()
                }
                return result != nil
            }
            await expectEventually { begun.count == 1 }
            for _ in 0..<10 {
                group.addTask { (try? await queue.run { performed.increase() }) != nil }
            }
            // Those that are turned away end at once.
            var done = 0
            for await succeeded in group {
                done += 1
                if done <= 7 { #expect(!succeeded) }
                if done == 7 { gate.signal() }
            }
            #expect(done == 11)
        }
        #expect(performed.count == 3)
        #expect(try await queue.run { 1 } == 1)
    }
}
