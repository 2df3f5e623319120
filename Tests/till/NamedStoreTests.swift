import AppStore
import Foundation
import HTTPSupport
import TestSupport
import Testing

/// Named stores of `till store`, in the real binary.
@Suite struct NamedStoreTests {
    private static let sandboxKey = "the-sandbox-key-of-the-tests"
    private static let monthly = "garden.premium.monthly"

    /// Some of the settings in an answer.
    private struct Settings: Decodable {
        let storefront: String
        let notificationsURL: String?
    }

    /// Starts a store that sells the garden's products.
    private func garden(_ till: TillProcess) async throws -> ServeProcess {
        try await ServeProcess(
            till,
            [
                "--products", TestGarden.file.path, "--bundle-id", TestGarden.bundleIdentifier, "--sandbox-key",
                Self.sandboxKey,
            ], command: "store")
    }

    /// Sends a request of the sandbox to a named store.
    private func send(
        _ path: String,
        _ body: String? = nil,
        to name: String,
        of process: ServeProcess,
        method: String? = nil
    ) async throws -> ServeProcess.Answer {
        try await process.curl(
            "/stores/\(name)/sandbox/v1/" + path, key: Self.sandboxKey, body: body,
            options: method.map { ["--request", $0] } ?? [])
    }

    private func buy(_ product: String, in name: String, of process: ServeProcess) async throws {
        let bought = try await send(
            "purchases", #"{"account":"alice","productId":"\#(product)"}"#, to: name, of: process)
        #expect(bought.status == 201)
    }

    /// The products that alice has bought.
    private func sales(in name: String, of process: ServeProcess) async throws -> [String] {
        let list = try await send("accounts/alice/transactions", to: name, of: process)
        return try list.decoded(List<SaleResource>.self).elements.map(\.productId)
    }

    @Test func `two suites with the same accounts do not see each other`() async throws {
        let till = try TillProcess()
        let process = try await garden(till)
        let receivers = try await (a: WebhookReceiver(), b: WebhookReceiver())
        for (name, receiver) in [("a", receivers.a), ("b", receivers.b)] {
            let set = try await send(
                "settings", #"{"notificationsURL":"\#(receiver.url)"}"#, to: name, of: process, method: "PATCH")
            #expect(set.status == 200)
        }
        try await buy(Self.monthly, in: "a", of: process)
        try await buy("garden.gate", in: "b", of: process)
        let changed = try await send("settings", #"{"storefront":"KOR"}"#, to: "b", of: process, method: "PATCH")
        #expect(try changed.decoded(Settings.self).storefront == "KOR")
        #expect(try await send("settings", to: "a", of: process).decoded(Settings.self).storefront == "USA")
        let before = try await send("time", to: "b", of: process).decoded(TimeResource.self).millisecondsSince1970
        // The clock waits until the notification of the renewal has arrived.
        let advanced = try await send("time/advance", #"{"by":"32d"}"#, to: "a", of: process)
        #expect(try advanced.decoded(TimeResource.self).events?.map(\.kind) == ["renewed"])
        #expect(receivers.a.received.count == 2)
        let after = try await send("time", to: "b", of: process).decoded(TimeResource.self).millisecondsSince1970
        #expect(after - before < 86_400_000)
        #expect(try await sales(in: "a", of: process) == [Self.monthly, Self.monthly])
        #expect(try await sales(in: "b", of: process) == ["garden.gate"])
        await expectEventually { receivers.b.received.count == 1 }
        #expect(receivers.a.received.count == 2)
        // The store without a name has sold nothing, and has no address.
        let main = try await till.run("store", "sales", "alice", "--json").decoded(List<SaleResource>.self)
        #expect(main.elements.isEmpty)
        let settings = try await process.curl("/sandbox/v1/settings", key: Self.sandboxKey)
        #expect(try settings.decoded(Settings.self).notificationsURL?.isEmpty != false)
        #expect(await process.end(SIGTERM) == 0)
    }

    @Test func `a reset or a deletion of one store leaves the others`() async throws {
        let till = try TillProcess()
        let process = try await garden(till)
        for name in ["a", "b", "c"] { try await buy(Self.monthly, in: name, of: process) }
        _ = try await till.run("store", "buy", "garden.gate", "--account", "alice")
        let reset = try await send("reset", "", to: "a", of: process)
        #expect(reset.status == 200)
        #expect(try reset.decoded(ResetResult.self).sales == 1)
        #expect(try await send("store", to: "b", of: process, method: "DELETE").status == 204)
        #expect(try await sales(in: "a", of: process) == [])
        #expect(try await sales(in: "b", of: process) == [])
        #expect(try await sales(in: "c", of: process) == [Self.monthly])
        // A reset of the store without a name, too.
        #expect(try await till.run("store", "reset").status == 0)
        #expect(try await sales(in: "c", of: process) == [Self.monthly])
        #expect(await process.end(SIGTERM) == 0)
    }

    @Test func `a restart forgets named stores, and leaves no file of them`() async throws {
        let till = try TillProcess()
        let first = try await garden(till)
        let files = try FileManager.default.subpathsOfDirectory(atPath: till.folder.folder("data").path).sorted()
        try await buy("garden.gate", in: "a", of: first)
        let bought = try await till.run("store", "buy", "garden.seeds", "--account", "alice")
        #expect(bought.status == 0)
        #expect(
            try FileManager.default.subpathsOfDirectory(atPath: till.folder.folder("data").path).sorted() == files)
        #expect(await first.end(SIGTERM) == 0)
        let second = try await garden(till)
        #expect(try await sales(in: "a", of: second) == [])
        let main = try await till.run("store", "sales", "alice", "--json").decoded(List<SaleResource>.self)
        #expect(main.elements.map(\.productId) == ["garden.seeds"])
        #expect(await second.end(SIGTERM) == 0)
    }

    @Test func `a hundred named stores stop with their process`() async throws {
        let till = try TillProcess()
        let process = try await garden(till)
        for number in 1...100 { try await buy("garden.gate", in: "suite-\(number)", of: process) }
        for number in [1, 50, 100] {
            #expect(try await sales(in: "suite-\(number)", of: process) == ["garden.gate"])
        }
        #expect(await process.end(SIGTERM) == 0)
        #expect(try !process.log.contains("error"))
    }

    @Test func `the store beside a service refuses names`() async throws {
        let till = try TillProcess()
        let catalog = Project.root.appending(path: "Sources/till/Resources", directoryHint: .isDirectory).path
        let service = try await ServeProcess(
            till, ["--store", "--sandbox-key", Self.sandboxKey, "--catalog", catalog])
        for path in ["/sandbox/v1/time", "/inApps/v1/transactions/1", "/verifyReceipt"] {
            let refused = try await service.curl(
                path, key: Self.sandboxKey, options: ["--header", "X-Till-Store: a"])
            #expect((refused.status, refused.code) == (400, "namedStoresUnavailable"), "\(path)")
        }
        #expect(try await send("time", to: "a", of: service).status == 404)
        #expect(try await service.curl("/sandbox/v1/time", key: Self.sandboxKey).status == 200)
        #expect(await service.end(SIGTERM) == 0)
    }
}
