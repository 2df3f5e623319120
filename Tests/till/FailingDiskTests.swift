import Foundation
import HTTPSupport
import Service
import TestSupport
import Testing

/// A service with a failing disk. It answers only what it has stored, and a restart finds all of it.
@Suite struct FailingDiskTests {
    let till: TillProcess
    let key: String

    init() async throws {
        till = try TillProcess(hasKeys: false)
        let chain = try TestChains.ellipticCurve.get()
        try Data(chain.root.certificate.der).write(to: till.folder.file("root.cer"))
        #expect(try await till.run("trust", "add", till.folder.file("root.cer").path).status == 0)
        key = try await till.run("keys", "make", "disk", "--json").decoded(MadeKey.self).key
    }

    /// Preloads a library that makes the disk fail as the file `fault` says.
    private func serve(_ arguments: [String] = []) async throws -> ServeProcess {
        let library = till.folder.file("failing-disk.so")
        if !FileManager.default.fileExists(atPath: library.path) {
            let source = Project.root.appending(path: "Tests/Support/failing-disk.c").path
            try await Tool.run("cc", ["-shared", "-fPIC", "-o", library.path, source, "-ldl"], in: till.folder.url)
        }
        return try await ServeProcess(
            till, arguments, environment: ["LD_PRELOAD": library.path, "FAILING_DISK": till.folder.file("fault").path])
    }

    private func fail(_ how: String?) throws {
        let file = till.folder.file("fault")
        if let how { try Data(how.utf8).write(to: file) } else { try FileManager.default.removeItem(at: file) }
    }

    private func redeem(_ number: Int, at service: ServeProcess) async throws -> (status: Int, code: String?) {
        let payload = TestProofs.transactionPayload(transactionId: String(2_000_000_000_000_000 + number))
        let proof = try TestProofs.transaction(payload, chain: try TestChains.ellipticCurve.get())
        let answer = try await service.curl(
            "/v1/users/alice/transactions", key: key,
            body: #"{"signedTransaction":"\#(String(decoding: proof, as: UTF8.self))"}"#)
        return (answer.status, answer.code)
    }

    private func redeemed(_ service: ServeProcess) async throws -> Int {
        let answer = try await service.curl("/v1/users/alice/transactions", key: key)
        return try answer.decoded(List<TransactionResource>.self).elements.count
    }

    @Test func `a failed sync stops the ledger until a restart`() async throws {
        let service = try await serve()
        #expect(try await redeem(1, at: service).status == 200)
        try fail("sync")
        let failed = try await redeem(2, at: service)
        #expect(failed.status == 503)
        #expect(failed.code == "storageStopped")
        // The disk works again, but the lost writes stay lost. The service does not pretend that it has them.
        try fail(nil)
        #expect(try await redeem(3, at: service).code == "storageStopped")
        #expect(try await service.curl("/v1/users/alice/items", key: key).code == "storageStopped")
        #expect(try await service.curl("/health/ready").status == 503)
        #expect(try await service.curl("/health/live").status == 204)
        let refused = try await service.curl("/v1/users/alice/items", key: key)
        #expect(try !refused.decoded(ProblemResource.self).couldSucceedLater)
        #expect(!refused.head.lowercased().contains("retry-after"))
        #expect(await service.end(SIGTERM) == 0)
        let lines = try service.log.split(separator: "\n").filter { $0.contains("the ledger has stopped") }
        #expect(lines.count == 1)
        #expect(
            lines.allSatisfy { $0.contains("critical") && $0.contains("Check the disk, then restart the service.") })
        let restarted = try await serve()
        #expect(try await redeem(2, at: restarted).status == 200)
        #expect(try await redeem(3, at: restarted).status == 200)
        #expect(try await redeemed(restarted) == 3)
        let checked = try await till.run("ledger", "check", "--json")
        #expect(checked.status == 0)
        #expect(try checked.decoded(CheckedLedger.self).redeemedTransactions == 3)
        #expect(await restarted.end(SIGTERM) == 0)
    }

    @Test func `a redemption on a full disk fails, and succeeds once the disk has space`() async throws {
        let service = try await serve()
        #expect(try await redeem(1, at: service).status == 200)
        try fail("full")
        let failed = try await redeem(2, at: service)
        #expect(failed.status == 500)
        #expect(failed.code == "storageDiskFull")
        #expect(try await redeemed(service) == 1)
        try fail(nil)
        #expect(try await redeem(2, at: service).status == 200)
        #expect(try await redeemed(service) == 2)
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test func `a disk that is almost full takes purchases, and no new accounts`() async throws {
        try fail("almost full")
        let service = try await serve(["--accounts"])
        let account = #"{"email":"mint@example.com","password":"correct horse"}"#
        for _ in 0..<3 {
            let refused = try await service.curl("/v1/accounts", body: account)
            #expect(refused.status == 503)
            #expect(refused.code == "storageAlmostFull")
        }
        #expect(try await redeem(1, at: service).status == 200)
        #expect(try await redeemed(service) == 1)
        #expect(try await service.curl("/health/ready").status == 204)
        #expect(await service.end(SIGTERM) == 0)
        #expect(try service.log.components(separatedBy: "the disk is almost full").count == 2)
    }

    /// Commits in the write-ahead log are on the disk, even if a checkpoint cannot move them into the database.
    @Test func `a failed checkpoint loses no commit`() async throws {
        let service = try await serve()
        try fail("checkpoint")
        let users = try await service.curl(
            "/v1/users/u[1-300]/account-token", key: key, options: ["--request", "PUT"])
        #expect(users.head.split(separator: "HTTP/1.1 ").allSatisfy { $0.hasPrefix("200") })
        #expect(try await redeem(1, at: service).status == 200)
        _ = await service.end(SIGKILL)
        try fail(nil)
        let restarted = try await serve()
        #expect(try await redeemed(restarted) == 1)
        #expect(try await till.run("ledger", "check", "--json").decoded(CheckedLedger.self).users == 301)
        #expect(await restarted.end(SIGTERM) == 0)
    }

    /// The operating system remounts a disk read-only after an error.
    @Test func `a disk that becomes read-only stops the ledger, and prevents a restart`() async throws {
        let service = try await serve()
        #expect(try await redeem(1, at: service).status == 200)
        try fail("read-only")
        #expect(try await redeem(2, at: service).code == "storageStopped")
        #expect(await service.end(SIGTERM) == 0)
        let refused = await #expect(throws: ServeProcess.NotListening.self) { try await serve() }
        #expect(try #require(refused).description.contains("cannot be opened for writing"))
        try fail(nil)
        let restarted = try await serve()
        #expect(try await redeemed(restarted) == 1)
        #expect(try await redeem(2, at: restarted).status == 200)
        #expect(await restarted.end(SIGTERM) == 0)
    }

    @Test func `a damaged page is reported, and reads succeed once the disk works again`() async throws {
        let service = try await serve()
        #expect(try await redeem(1, at: service).status == 200)
        try fail("damaged")
        // The next read goes to the disk: the page has changed, or is not cached yet.
        let answered = try await redeem(2, at: service)
        let failed = try await service.curl("/v1/users/alice/transactions", key: key)
        #expect(failed.status == 500)
        #expect(failed.code == "storageDamaged")
        try fail(nil)
        #expect(try await redeemed(service) == (answered.status == 200 ? 2 : 1))
        #expect(try await till.run("ledger", "check").status == 0)
        #expect(await service.end(SIGTERM) == 0)
        #expect(try service.log.contains("storageDamaged"))
    }

    /// Requests to the ledger wait. Other requests are answered, and all continue when the disk does.
    @Test func `a disk that hangs delays only the requests to the ledger`() async throws {
        let service = try await serve()
        #expect(try await redeem(1, at: service).status == 200)
        try fail("hang")
        let (key, cores) = (key, ProcessInfo.processInfo.activeProcessorCount)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<2 * cores + 2 {
                group.addTask { try await service.curl("/v1/users/alice/items", key: key).status }
            }
            let waiting = till.folder.file("fault.hanging")
            await expectEventually { (try? Data(contentsOf: waiting).count) ?? 0 >= cores }
            #expect(try await service.curl("/health/live").status == 204)
            try fail(nil)
            for try await status in group { #expect(status == 200) }
        }
        #expect(await service.end(SIGTERM) == 0)
    }
}
