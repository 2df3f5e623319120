import Catalog
import Entitlements
import Ledger
import Proofs
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// The one door to a purchase, with stores whose proofs are words.
@Suite struct RedemptionDoorTests {
    /// A store that knows some words, and states a gate for each of them.
    private final class WordStore: RedemptionDoor.Store {
        /// The words that state a purchase themselves.
        let stated: Set<String>
        /// The words about which the store is asked.
        let unstated: Set<String>
        private let service: EntitlementService
        private let clock: ManualClock
        private let steps = Mutex<[String]>([])

        init(
            stating stated: Set<String> = [], asked unstated: Set<String> = [], _ service: EntitlementService,
            _ clock: ManualClock
        ) {
            (self.stated, self.unstated, self.service, self.clock) = (stated, unstated, service, clock)
        }

        /// The looks, the questions and the work after the decision, in their order.
        var log: [String] { steps.withLock(\.self) }

        private func note(_ step: String) { steps.withLock { $0.append(step) } }

        func verify(
            _ proof: [UInt8], from presenter: RedemptionDoor.Presenter
        ) async throws -> RedemptionDoor.Verification {
            let word = String(decoding: proof, as: UTF8.self)
            note("look \(word)")
            if stated.contains(word) { return .stated(statement(word)) }
            return unstated.contains(word) ? .unstated(.init(app: nil, identifier: word)) : .foreign
        }

        func ask(
            _ question: RedemptionDoor.Question, from presenter: RedemptionDoor.Presenter
        ) async throws -> RedemptionDoor.Statement {
            note("ask \(question.identifier)")
            return statement(question.identifier)
        }

        private func statement(_ word: String) -> RedemptionDoor.Statement {
            let purchases = word.split(separator: "+").map { part in
                StoredPurchase(
                    ProvenPurchase(
                        transactionIdentifier: String(part), originalTransactionIdentifier: String(part),
                        productIdentifier: part.hasPrefix("other") ? "other" : "garden.gate", quantity: 1,
                        purchaseDate: clock.now(), revocationDate: nil, revocationReason: nil, expiresDate: nil,
                        appAccountToken: nil, facts: TransactionFacts()))
            }
            let claims = service.purchases(
                purchases, of: TestGarden.bundleIdentifier, from: .localSandbox, statedAt: clock.now(),
                digest: DigestAlgorithm.sha256.digest(of: Array(word.utf8)))
            return .init(claims) { [self] in note("finish \(word)") }
        }
    }

    /// A ledger whose disk fails from a moment on.
    private final class FailingStorage: LedgerStorage {
        private let storage: any LedgerStorage
        private let fails = Atomic(false)

        init(_ storage: any LedgerStorage) { self.storage = storage }

        var dialect: SQLDialect { storage.dialect }
        var damaged: StorageFault { storage.damaged }

        func fail() { fails.store(true, ordering: .relaxed) }

        func observe(_ observer: @escaping @Sendable (Set<Int64>) -> Void) { storage.observe(observer) }

        func read<Value>(_ extent: ReadExtent, _ body: (any LedgerDatabase) throws -> Value) throws -> Value {
            guard !fails.load(ordering: .relaxed) else { throw StorageFault(cause: .stopped, path: "ledger") }
            return try storage.read(extent, body)
        }

        func commit(_ parts: [LedgerPart]) -> [(any Error)?] {
            guard fails.load(ordering: .relaxed) else { return storage.commit(parts) }
            return parts.flatMap { Array(repeating: StorageFault(cause: .stopped, path: "ledger"), count: $0.count) }
        }
    }

    private let garden: TestGarden
    private let service: EntitlementService
    private let alice: User
    private let bob: User

    init() throws {
        garden = try TestGarden()
        service = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(),
            ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: garden.clock)
        alice = try #require(User(name: "alice"))
        bob = try #require(User(name: "bob"))
    }

    private func request(
        _ word: String, for user: User?, keeping: RedemptionRequest.Keeping? = nil,
        refusals: RedemptionRequest.Refusals = .recorded
    ) -> RedemptionRequest {
        RedemptionRequest(Array(word.utf8), for: user, by: .user, keeping: keeping, refusals: refusals)
    }

    private func store(stating stated: Set<String> = [], asked unstated: Set<String> = []) -> WordStore {
        WordStore(stating: stated, asked: unstated, service, garden.clock)
    }

    @Test func `the first store that knows a proof states it, and others do not see it`() async throws {
        let (first, second) = (store(stating: ["a"]), store(stating: ["a", "b"]))
        let door = RedemptionDoor(service, stores: [first, second])
        #expect(try await door.redeem(request("a", for: alice)).decision.outcome == .granted)
        #expect(try await door.redeem(request("b", for: alice)).decision.outcome == .granted)
        #expect(first.log == ["look a", "finish a", "look b"])
        #expect(second.log == ["look b", "finish b"])
    }

    @Test func `a purchase that only its store knows is asked about before the decision`() async throws {
        let asked = store(asked: ["a"])
        let decided = try await RedemptionDoor(service, stores: [asked]).redeem(request("a", for: alice)).decision
        #expect(decided.lines.map(\.result) == [.granted])
        #expect(decided.items.contains(Item(collection: "gate", number: 1)))
        #expect(asked.log == ["look a", "ask a", "finish a"])
    }

    @Test func `a proof is presented before the user is known, and redeemed for that user`() async throws {
        let known = store(asked: ["a"])
        let door = RedemptionDoor(service, stores: [known])
        let presented = try await door.present(request("a", for: nil))
        #expect(presented.statement.purchases.map(\.transactionIdentifier) == ["a"])
        #expect(known.log == ["look a", "ask a"])
        #expect(try await door.redeem(presented, for: bob).decision.lines.map(\.result) == [.granted])
        #expect(known.log.last == "finish a")
        await #expect(throws: RedemptionError.userUnknown) { try await door.redeem(request("a", for: nil)) }
    }

    @Test func `each purchase has its result in order, also if none is the user's`() async throws {
        let door = RedemptionDoor(service, stores: [store(stating: ["a+b", "other+b+a", "b+a"])])
        _ = try await door.redeem(request("a+b", for: alice))
        let mixed = try await door.redeem(request("other+b+a", for: alice)).decision
        #expect(mixed.lines.map(\.result) == [.productUnknown, .alreadyRedeemed, .alreadyRedeemed])
        #expect(try mixed.outcome == .partlyRefused)
        let refused = try await door.redeem(request("b+a", for: bob)).decision
        #expect(refused.lines.map(\.transactionId) == ["b", "a"])
        #expect(refused.lines.map(\.result) == [.ownedByAnotherUser, .ownedByAnotherUser])
        #expect(throws: RedemptionError.purchaseRefused(.ownedByAnotherUser)) { try refused.outcome }
    }

    @Test func `each outcome and each refusal is reported once, and a kept answer is none`() async throws {
        let reports = Mutex<[String]>([])
        let door = RedemptionDoor(service, stores: [store(stating: ["a"])]) { result in
            let report =
                switch result {
                case .success(let outcome): outcome.rawValue
                case .failure(let error): (error as? RedemptionError)?.code ?? "\(error)"
                }
            reports.withLock { $0.append(report) }
        }
        let key = IdempotencyKey(caller: "c", key: "k")
        let keeping: RedemptionRequest.Keeping = (
            key, { key.answer(Array($0.outcome.rawValue.utf8), to: [UInt8](repeating: 1, count: 32)) }
        )
        _ = try await door.redeem(request("a", for: alice, keeping: keeping))
        guard case .kept(let kept) = try await door.redeem(request("a", for: alice, keeping: keeping)) else {
            Issue.record("The answer is not kept.")
            return
        }
        #expect(kept.bytes == Array("granted".utf8))
        _ = try await door.redeem(request("a", for: alice))
        _ = try await door.redeem(request("a", for: bob))
        await #expect(throws: RedemptionError.self) { try await door.redeem(request("no proof", for: bob)) }
        await #expect(throws: RedemptionError.self) {
            try await door.present(request("no proof", for: bob, refusals: .ignored))
        }
        #expect(reports.withLock(\.self) == ["granted", "unchanged", "ownedByAnotherUser", "encodingInvalid"])
    }

    @Test func `the refusal of an authentic proof is recorded, unless the caller counts only`() async throws {
        let other = EntitlementService(
            apps: service.apps, verifier: try garden.verifier(), ledger: service.ledger, clock: garden.clock,
            accepted: AcceptedOrigins([.appleProduction]))
        let proof = Array(try garden.store.signedTransaction(try garden.buy("garden.gate").identifier).utf8)
        let refused = RedemptionDoor(other)
        for (user, refusals) in [(alice, RedemptionRequest.Refusals.recorded), (bob, .counted)] {
            await #expect(throws: RedemptionError.self) {
                try await refused.redeem(RedemptionRequest(proof, for: user, by: .user, refusals: refusals))
            }
        }
        func codes(of user: User) async throws -> [String?] {
            try await service.ledger.read { try $0.users.known(user) == nil ? [] : $0.audit(of: user) }
                .filter { $0.entry.event == .refused }.map(\.entry.reason)
        }
        #expect(try await codes(of: alice) == ["originNotAccepted"])
        #expect(try await codes(of: bob).isEmpty)
    }

    @Test func `a refusal that the ledger cannot record is told, and the caller has it all the same`() async throws {
        let storage = FailingStorage(try SQLiteStorage(file: garden.folder.file("failing.sqlite")))
        let other = EntitlementService(
            apps: service.apps, verifier: try garden.verifier(), ledger: Ledger(storage: storage, randomness: .system),
            clock: garden.clock, accepted: AcceptedOrigins([.appleProduction]))
        let lost = Mutex<[String]>([])
        let door = RedemptionDoor(
            other, onLostRefusal: { error in lost.withLock { $0.append((error as? StorageFault)?.code ?? "\(error)") } }
        )
        let transaction = try garden.store.signedTransaction(try garden.buy("garden.gate").identifier)
        let request = RedemptionRequest(Array(transaction.utf8), for: alice, by: .user)
        for fails in [false, true] {
            if fails { storage.fail() }
            do {
                _ = try await door.redeem(request)
                Issue.record("The proof is not refused.")
            } catch { #expect((error as? RedemptionError)?.code == "originNotAccepted") }
            #expect(lost.withLock(\.self) == (fails ? ["storageStopped"] : []))
        }
        // A signed purchase is JSON, and its token has its name from the ledger.
        let signed = SignedProofs(other)
        await #expect(throws: StorageFault.self) { try await signed.claims(ofRefused: Array("{}".utf8)) }
        #expect(try await SignedProofs(service).claims(ofRefused: Array("{}".utf8)).isEmpty)
    }

    @Test func `the team assigns a purchase of nobody, which takes nothing from its owner`() async throws {
        let statement = store(stating: ["a"])
        let presented = try await RedemptionDoor(service, stores: [statement]).present(request("a", for: nil))
        #expect(try await service.outcomes(ofStated: presented.statement.claims) == [.parked])
        let door = RedemptionDoor(service)
        let result = try await door.assign(unclaimed: "a", origin: nil, to: alice, reason: "A letter", by: "K")
        #expect(result == .granted)
        let entries = try await service.ledger.read { try $0.audit(of: alice) }.map(\.entry)
        #expect(entries.last { $0.event == .assigned }?.reason == "A letter")
        await #expect(throws: AssignmentError.purchaseNotFound) {
            try await door.assign(unclaimed: "a", origin: nil, to: bob, reason: "A letter", by: "K")
        }
    }
}
