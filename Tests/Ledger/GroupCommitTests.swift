import Entitlements
import Ledger
import Proofs
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// Group commits, and their back-pressure.
@Suite(.enabled(if: LedgerFixture.isFile)) struct GroupCommitTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    private final class Counter: Sendable {
        private let value = Mutex(0)

        var count: Int { value.withLock(\.self) }

        func increase() { value.withLock { $0 += 1 } }
    }

    private struct Refusal: Error, Equatable {
        let number: Int
    }

    private final class Sizes: Sendable {
        private let value = Mutex<[Int]>([])

        var all: [Int] { value.withLock(\.self) }

        func add(_ size: Int) { value.withLock { $0.append(size) } }
    }

    private final class Breaches: Sendable {
        private let value = Mutex<[BrokenInvariant]>([])

        var all: [BrokenInvariant] { value.withLock(\.self) }

        func add(_ breach: BrokenInvariant) { value.withLock { $0.append(breach) } }
    }

    @Test func `waiting use cases share the next commit, and a failed one leaves no trace`() async throws {
        let (commits, ledger) = (Counter(), ledger)
        ledger.observeCommits { _ in commits.increase() }
        let gate = await ledger.hangCommit()
        let refused = try await withThrowingTaskGroup(of: Int?.self) { group in
            for number in 0..<50 {
                group.addTask {
                    do {
                        try await ledger.write {
                            let user = try #require(User(name: "user\(number)"))
                            _ = try $0.makeAppAccountToken(of: user, at: Self.now)
                            if number.isMultiple(of: 5) { throw Refusal(number: number) }
                        }
                        return nil
                    } catch let refusal as Refusal {
                        return refusal.number
                    }
                }
            }
            await expectEventually { ledger.waitingCount == 50 }
            gate.signal()
            return try await group.reduce(into: Set<Int>()) { if let number = $1 { $0.insert(number) } }
        }
        #expect(commits.count == 2)
        #expect(refused == Set(stride(from: 0, to: 50, by: 5)))
        let users = try await ledger.read { transaction in
            try (0..<50).filter { number in
                try transaction.appAccountToken(of: #require(User(name: "user\(number)"))) != nil
            }
        }
        #expect(users == (0..<50).filter { !$0.isMultiple(of: 5) })
    }

    @Test func `what would break a rule is refused alone, and told`() async throws {
        let (told, ledger) = (Breaches(), ledger)
        ledger.observeBreaches { told.add($0) }
        let breach = BrokenInvariant("a number is even", "7")
        let batch = ledger.batch(upTo: 16) { (numbers: [Int], _) in
            if numbers.contains(7) { throw breach }
            return numbers
        }
        let gate = await ledger.hangCommit()
        async let first = batch.answer(6)
        async let second = batch.answer(8)
        let broken = Task { try await batch.answer(7) }
        await expectEventually { ledger.waitingCount == 3 }
        gate.signal()
        #expect(try await [first, second] == [6, 8])
        await #expect(throws: breach) { _ = try await broken.value }
        #expect(told.all == [breach])
    }

    @Test func `requests of a batch are answered together, and a failing one fails alone`() async throws {
        let (sizes, ledger) = (Sizes(), ledger)
        let batch = ledger.batch(upTo: 16) { (numbers: [Int], _) in
            sizes.add(numbers.count)
            if numbers.contains(7) { throw Refusal(number: 7) }
            return numbers.map { -$0 }
        }
        let gate = await ledger.hangCommit()
        let answers = try await withThrowingTaskGroup(of: (Int, Int?).self) { group in
            for number in 0..<40 {
                group.addTask {
                    do {
                        return (number, try await batch.answer(number))
                    } catch let refusal as Refusal {
                        return (refusal.number, nil)
                    }
                }
            }
            await expectEventually { ledger.waitingCount == 40 }
            gate.signal()
            return try await group.reduce(into: [Int: Int?]()) { $0.updateValue($1.1, forKey: $1.0) }
        }
        let expected = (0..<40).map { ($0, $0 == 7 ? nil : -$0) }
        #expect(answers == Dictionary(uniqueKeysWithValues: expected))
        // Three parts. The part with the number 7 is halved until the number is alone.
        #expect(sizes.all.count == 11)
        #expect(sizes.all.max() == 16)
    }

    @Test func `use cases beyond the limit are refused and do nothing`() async throws {
        let (performed, refused, ledger) = (Counter(), Counter(), ledger)
        let gate = await ledger.hangCommit()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<600 {
                group.addTask {
                    do {
                        try await ledger.write { _ in performed.increase() }
                    } catch let fault as StorageFault where fault.cause == .overloaded {
                        refused.increase()
                    }
                }
            }
            // Refused use cases fail at once.
            await expectEventually { refused.count == 600 - 512 }
            #expect(ledger.waitingCount == 512)
            #expect(performed.count == 0)
            gate.signal()
            try await group.waitForAll()
        }
        #expect(performed.count == 512)
        #expect(try await ledger.write { _ in 1 } == 1)
    }

    /// The places of each priority.
    private static let places: [(CommitPriority, Int)] = [(.low, 128), (.medium, 256), (.high, 512)]

    @Test(arguments: places)
    func `use cases of low priority take a part of the places`(priority: CommitPriority, places: Int) async throws {
        let (performed, refused, ledger) = (Counter(), Counter(), ledger)
        let gate = await ledger.hangCommit()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<600 {
                group.addTask {
                    do {
                        try await CommitPriority.$current.withValue(priority) {
                            try await ledger.write { _ in performed.increase() }
                        }
                    } catch let fault as StorageFault where fault.cause == .overloaded {
                        refused.increase()
                    }
                }
            }
            await expectEventually { refused.count == 600 - places }
            #expect(ledger.waitingCount == places)
            #expect(
                Self.places.filter { ledger.hasPlace(for: $0.0) }.map(\.1)
                    == Self.places.map(\.1).filter { $0 > places })
            gate.signal()
            try await group.waitForAll()
        }
        #expect(performed.count == places)
    }

    @Test func `requests of a batch have the priority of their task`() async throws {
        let ledger = ledger
        let batch = ledger.batch(upTo: 16) { (numbers: [Int], _) in numbers.map { -$0 } }
        try await withThrowingTaskGroup(of: Int.self) { group in
            try await ledger.holding(128) {
                await #expect(throws: StorageFault.self) {
                    try await CommitPriority.$current.withValue(.low) { try await batch.answer(1) }
                }
                group.addTask {
                    try await CommitPriority.$current.withValue(.medium) { try await batch.answer(2) }
                }
                await expectEventually { ledger.waitingCount == 129 }
            }
            #expect(try await group.next() == -2)
        }
    }

    @Test func `what is written in the background waits until purchases are written`() async throws {
        let (performed, begun, ledger) = (Counter(), Counter(), ledger)
        let gate = await ledger.hangCommit()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<512 {
                group.addTask { try await ledger.write { _ in performed.increase() } }
            }
            await expectEventually { ledger.waitingCount == 512 }
            await #expect(throws: StorageFault.self) { try await ledger.write { _ in } }
            group.addTask {
                begun.increase()
                try await ledger.writeInBackground { _ in #expect(performed.count > 0) }
            }
            await expectEventually { begun.count == 1 }
            gate.signal()
            try await group.waitForAll()
        }
        #expect(performed.count == 512)
    }
}
