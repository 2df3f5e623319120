import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The writes of each caller while only the reserve of free space is left.
@Suite struct StorageReserveRoutesTests {
    let fixture: ServiceFixture
    let issuer: TestIssuer
    let disk = ManualDisk(free: 0)

    init() async throws {
        issuer = try TestIssuer()
        let folder = try TemporaryFolder()
        fixture = try await ServiceFixture(
            tokens: issuer.settings(keptIn: folder),
            disk: disk, keeping: folder)
    }

    private func token(of user: String = "alice") throws -> String {
        try issuer.token(for: user, at: fixture.shop.clock.now().millisecondsSince1970 / 1000)
    }

    private enum Caller: CaseIterable {
        case stranger, publicKey, app, backEnd
    }

    private static let refused = OperationPermission.operations(.refusedWhenFull)
    /// The writes that anybody can send without a credential.
    private static let ofStrangers = refused.intersection(OperationPermission.operations(.open))
    private static let admitted = OperationPermission.operations(.admittedWhenFull)

    /// The operations that a caller may use, by whether the reserve of free space refuses them.
    private func operations(of caller: Caller) async throws -> (refused: Set<String>, admitted: Set<String>) {
        let app = fixture.shop.catalog.bundleIdentifier
        let publicKey = try await fixture.keys.makePublic(name: "app", app: app, platform: .apple).identifier
        let idToken = try #require(HTTPField.Name("idtoken"))
        var (refused, admitted): (Set<String>, Set<String>) = ([], [])
        for (number, operation) in fixture.routes.operations.enumerated() {
            let parts = operation.split(separator: " ")
            let method = try #require(HTTPRequest.Method(rawValue: String(parts[0])))
            let path = String(parts[1])
            guard method != .get, method != .head else { continue }
            // Some requests erase their user.
            let token = try token(of: "user\(number)")
            let credential: String? =
                switch caller {
                case .stranger: ""
                case .publicKey: publicKey
                case .app: token
                case .backEnd: nil
                }
            let answer = try await fixture.send(
                method, path.replacing(/\{[a-z]+\}/, with: "x"), body: "{}", key: credential,
                headers: caller == .app ? [idToken: token] : [:])
            // The seed's own app knows only statuses.
            let isOfSeedApp = path == "/v1/user" || path.hasPrefix("/v1/user/")
            if answer.code == "storageAlmostFull" {
                #expect(answer.status == 503)
                #expect(answer.headers[.retryAfter] == "60")
                refused.insert(operation)
            } else if isOfSeedApp, answer.status == 500 {
                refused.insert(operation)
            } else if isOfSeedApp ? caller == .app : ![401, 403].contains(answer.status) {
                admitted.insert(operation)
            }
        }
        return (refused, admitted)
    }

    @Test func `strangers write nothing`() async throws {
        let found = try await operations(of: .stranger)
        #expect(found.refused == Self.ofStrangers)
        #expect(found.admitted.subtracting(Self.admitted) == [])
    }

    @Test func `the public key of an app changes nothing`() async throws {
        let found = try await operations(of: .publicKey)
        #expect(found.refused == Self.ofStrangers)
        #expect(found.admitted.subtracting(Self.admitted) == [])
    }

    @Test func `apps write only what brings a proof, or takes no space`() async throws {
        let found = try await operations(of: .app)
        #expect(found.refused == Self.refused)
        #expect(found.admitted == Self.admitted)
    }

    @Test func `back ends write everything`() async throws {
        let found = try await operations(of: .backEnd)
        #expect(found.refused == Self.ofStrangers)
        #expect(found.admitted.count > 30)
    }

    @Test func `purchases are granted, and everybody writes once there is space`() async throws {
        let signed = try fixture.shop.store.signedTransaction(try fixture.buy("sprout1").identifier)
        let redeemed = try await fixture.send(
            .post, "/v1/me/transactions", body: "{\"signedTransaction\":\"\(signed)\"}", key: try token())
        #expect(try redeemed.decoded(Redemption.self).outcome == .granted)
        let other = try fixture.shop.store.signedTransaction(try fixture.buy("sprout2", account: "bob").identifier)
        let sent = try await fixture.send(
            .post, "/v1/users/bob/transactions", body: "{\"signedTransaction\":\"\(other)\"}")
        #expect(try sent.decoded(Redemption.self).outcome == .granted)
        #expect(try await fixture.send(.get, "/v1/me/items", key: try token(of: "carol")).status == 200)
        #expect(try await fixture.send(.get, "/health/ready", key: "").status == 204)
        #expect(try await gauge() == "1")
        let account = #"{"email":"mint@example.com","password":"correct horse"}"#
        #expect(try await fixture.send(.post, "/v1/accounts", body: account, key: "").code == "storageAlmostFull")
        disk.setFree(.max)
        fixture.shop.clock.advance(milliseconds: 1000)
        #expect(try await fixture.send(.post, "/v1/accounts", body: account, key: "").status == 201)
        #expect(try await gauge() == "0")
    }

    private func gauge() async throws -> Substring? {
        let text = String(decoding: try await fixture.send(.get, "/metrics").body, as: UTF8.self)
        return text.split(separator: "\n").first { $0.hasPrefix("till_storage_almost_full ") }?.split(separator: " ")
            .last
    }
}
