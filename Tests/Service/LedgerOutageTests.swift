import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import Hummingbird
import Ledger
import Proofs
import Service
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// The metrics of a service whose ledger is away.
@Suite struct LedgerOutageTests {
    private let folder: TemporaryFolder
    private let storage: AbsentStorage
    private let clock = ManualClock()
    private let keys: APIKeys
    private let routes: ServiceRoutes

    init() throws {
        folder = try TemporaryFolder()
        storage = AbsentStorage(try Ledger(file: folder.file("ledger.sqlite")).storage)
        let ledger = Ledger(storage: storage, randomness: .system)
        keys = ledger.apiKeys(clock: clock)
        let service = EntitlementService(
            apps: Apps(App(try Catalog(folder: Project.products))),
            verifier: ProofVerifier(anchors: try TrustAnchors([]), clock: clock), ledger: ledger, clock: clock)
        routes = ServiceRoutes(Till(service, clock: clock), RouteSettings(.apiKeys(keys)))
    }

    /// - Returns: The status, and the answer as text.
    private func metrics(_ key: String, at path: String = "/metrics") async throws -> (status: Int, text: String) {
        try await Application(router: routes.router()).test(.router) { client in
            try await client.execute(uri: path, method: .get, headers: [.authorization: "Bearer \(key)"]) {
                ($0.status.code, String(buffer: $0.body))
            }
        }
    }

    private func key(_ scopes: Set<APIKeyScope> = [.metrics], expiresAt: Timestamp? = nil) async throws -> String {
        try await keys.make(name: "prometheus", scopes: scopes, expiresAt: expiresAt).key
    }

    @Test func `metrics say that the ledger is down, and that it is up again`() async throws {
        let key = try await key()
        #expect(try await metrics(key).text.contains("\ntill_ledger_up 1\n"))
        storage.setAbsent(true)
        let down = try await metrics(key)
        #expect(down.status == 200)
        #expect(down.text.contains("\ntill_ledger_up 0\n"))
        storage.setAbsent(false)
        #expect(try await metrics(key).text.contains("\ntill_ledger_up 1\n"))
    }

    @Test func `only a key that the ledger has confirmed for metrics is remembered`() async throws {
        let (confirmed, unseen, other) = (try await key(), try await key(), try await key([.read]))
        #expect(try await metrics(confirmed).status == 200)
        #expect(try await metrics(other).status == 403)
        storage.setAbsent(true)
        #expect(try await metrics(confirmed).status == 200)
        #expect(try await metrics(unseen).status == 503)
        #expect(try await metrics(other).status == 503)
        // The secret counts, not the identifier alone.
        #expect(try await metrics(String(confirmed.dropLast()) + "_").status == 401)
        // Metrics alone are answered.
        #expect(try await metrics(confirmed, at: "/v1/products").status == 503)
    }

    @Test func `a key is remembered for a day at most`() async throws {
        let key = try await key()
        #expect(try await metrics(key).status == 200)
        storage.setAbsent(true)
        clock.advance(milliseconds: 86_400_000 - 1)
        #expect(try await metrics(key).status == 200)
        clock.advance(milliseconds: 1)
        #expect(try await metrics(key).status == 503)
    }

    @Test func `a key that was refused or has expired is not remembered`() async throws {
        let (revoked, expiring) = (try await key(), try await key(expiresAt: clock.now().adding(seconds: 60)))
        for key in [revoked, expiring] { #expect(try await metrics(key).status == 200) }
        let identifier = try #require(try await keys.list().first { $0.expiresAt == nil }?.identifier)
        #expect(try await keys.revoke(identifier))
        #expect(try await metrics(revoked).status == 401)
        storage.setAbsent(true)
        #expect(try await metrics(revoked).status == 503)
        #expect(try await metrics(expiring).status == 200)
        clock.advance(milliseconds: 60_000)
        #expect(try await metrics(expiring).status == 401)
    }
}

/// A storage that can be away, as that of a database server.
private final class AbsentStorage: LedgerStorage {
    private let storage: any LedgerStorage
    private let isAbsent = Atomic(false)

    init(_ storage: any LedgerStorage) { self.storage = storage }

    func setAbsent(_ isAbsent: Bool) { self.isAbsent.store(isAbsent, ordering: .relaxed) }

    private func check() throws(StorageFault) {
        if isAbsent.load(ordering: .relaxed) { throw StorageFault(cause: .unreachable, path: "ledger") }
    }

    func read<Value>(_ extent: ReadExtent, _ body: (any LedgerDatabase) throws -> Value) throws -> Value {
        try check()
        return try storage.read(extent, body)
    }

    func commit(_ parts: [LedgerPart]) -> [(any Error)?] { storage.commit(parts) }

    var dialect: SQLDialect { storage.dialect }

    func observe(_ observer: @escaping @Sendable (Set<Int64>) -> Void) { storage.observe(observer) }

    var damaged: StorageFault { storage.damaged }
}
