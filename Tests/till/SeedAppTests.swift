import Foundation
import Proofs
import Service
import TestSupport
import Testing

/// A member as the app reads it. It needs every field.
private struct SeedAppUser: Decodable {
    let _id: String
    let __v: Int
    let uid: String
    let phoneNumber: String
    let email: String
    let FCMtoken: String
    let nick: String
    let birth: String
    let gender: Int
    let study: String
    let comment: [String]
    let reputation: [Int]
    let sesac: Int
    let sesacCollection: [Int]
    let background: Int
    let backgroundCollection: [Int]
    let purchaseToken: [String]
    let transactionId: [String]
    let reviewedBefore: [String]
    let reportedNum: Int
    let reportedUser: [String]
    let dodgepenalty: Int
    let dodgeNum: Int
    let ageMin: Int
    let ageMax: Int
    let searchable: Int
    let createdAt: String
}

/// The unmodified seed app: the requests of a whole shop session, sent over the socket.
@Suite struct SeedAppTests {
    let till: TillProcess
    let issuer: TestIssuer
    let arguments: [String]

    private static let project = "sesac-1"
    private static let firebase = "https://securetoken.google.com/\(project)"

    init() async throws {
        till = try TillProcess()
        issuer = try await TestIssuer(rsaBits: 2048)
        let keys = till.folder.file("firebase.json")
        try Data(TestIssuer.keySet([issuer.publicKey]).utf8).write(to: keys)
        arguments = [
            "--seed-app", "--jwt-issuer", Self.firebase, "--jwt-audience", Self.project, "--jwt-keys", keys.path,
        ]
    }

    /// A token like that of Firebase Authentication after a sign-in with a phone.
    ///
    /// - Parameter hoursAgo: The age of the token. It is valid for an hour.
    private func idToken(of user: String, hoursAgo: Int64 = 0) throws -> String {
        let seconds = Int64(Date.now.timeIntervalSince1970) - hoursAgo * 3600
        let phone = JSONValue.string("+821012345678")
        return try issuer.token(
            for: user, at: seconds,
            claims: [
                "iss": .string(Self.firebase), "aud": .string(Self.project), "auth_time": .integer(seconds),
                "user_id": .string(user), "phone_number": phone,
                "firebase": .object(["identities": .object(["phone": .array([phone])]), "sign_in_provider": "phone"]),
            ])
    }

    /// A request like the client's, with the token in a header of its own and a form as the body.
    private func call(
        _ method: String,
        _ path: String,
        _ form: [String: String] = [:],
        token: String,
        on server: ServeProcess
    ) async throws -> ServeProcess.Answer {
        try await server.curl(
            path,
            options: ["--request", method, "--header", "idtoken: \(token)"]
                + form.sorted { $0.key < $1.key }.flatMap { ["--data-urlencode", "\($0.key)=\($0.value)"] })
    }

    /// Buys at the local store, and crashes before the service sees the purchase. The app then has a receipt.
    private func receipt(buying product: String, as account: String, with till: TillProcess) async throws -> String {
        _ = try await till.run(
            "buy", "com.memolease.sesac1.\(product)", "--user", account, "--kill-after", "purchased")
        return try await till.run("receipt", "export", "--user", account).output.trimmingCharacters(in: .newlines)
    }

    private func form(receipt: String, product: String) -> [String: String] {
        ["receipt": receipt, "product": "com.memolease.sesac1.\(product)"]
    }

    private let signUp = [
        "phoneNumber": "+821012345678", "FCMtoken": "fcm:token+/=", "nick": "민트새싹", "birth": "1998-02-13T00:00:00.000Z",
        "email": "mint@example.com", "gender": "0",
    ]

    @Test func `a whole shop session gets the responses that the app expects`() async throws {
        let first = try await receipt(buying: "sprout1", as: "mint", with: till)
        let mallorys = try await receipt(buying: "sprout4", as: "mallory", with: till)
        let server = try await ServeProcess(till, arguments)
        let token = try idToken(of: "mint")

        // The user is unknown, tries a forbidden nickname, signs up, and signs up again.
        #expect(try await call("GET", "/v1/user", token: token, on: server).status == 406)
        let rude = signUp.merging(["nick": "mint#1"]) { $1 }
        #expect(try await call("POST", "/v1/user", rude, token: token, on: server).status == 202)
        #expect(try await call("POST", "/v1/user", signUp, token: token, on: server).status == 200)
        #expect(try await call("POST", "/v1/user", signUp, token: token, on: server).status == 201)
        let user = try await call("GET", "/v1/user", token: token, on: server).decoded(SeedAppUser.self)
        #expect(user.nick == "민트새싹")
        #expect(user.FCMtoken == "fcm:token+/=")
        #expect(user.uid == "mint")

        // The shop before the first purchase.
        func info() async throws -> SeedAppUser {
            let answer = try await call("GET", "/v1/user/shop/myinfo", token: token, on: server)
            #expect(answer.status == 200)
            return try answer.decoded()
        }
        var shop = try await info()
        #expect(shop.sesacCollection == [0])
        #expect(shop.backgroundCollection == [0])

        // The user buys two items.
        func hand(_ receipt: String, _ product: String) async throws -> Int {
            let form = form(receipt: receipt, product: product)
            return try await call("POST", "/v1/user/shop/ios", form, token: token, on: server).status
        }
        #expect(try await hand(first, "sprout1") == 200)
        let second = try await receipt(buying: "background3", as: "mint", with: till)
        #expect(try await hand(second, "background3") == 200)
        #expect(try await hand(second, "background3") == 200)
        shop = try await info()
        #expect(shop.sesacCollection == [0, 1])
        #expect(shop.backgroundCollection == [0, 3])
        #expect(shop.transactionId.count == 2)

        // Mallory is a member and owns her purchase. Another user cannot redeem her receipt.
        let other = try idToken(of: "mallory")
        #expect(try await call("POST", "/v1/user", signUp, token: other, on: server).status == 200)
        let hers = form(receipt: mallorys, product: "sprout4")
        #expect(try await call("POST", "/v1/user/shop/ios", hers, token: other, on: server).status == 200)
        #expect(try await hand(mallorys, "sprout4") == 201)
        // The service also refuses a receipt of an untrusted store, of another product, and a missing one.
        let stranger = try await receipt(buying: "sprout4", as: "mint", with: try TillProcess(hasKeys: false))
        #expect(try await hand(stranger, "sprout4") == 201)
        #expect(try await hand(first, "sprout4") == 201)
        #expect(try await hand("bm90IGEgcmVjZWlwdA==", "sprout4") == 201)
        #expect(try await info().sesacCollection == [0, 1])

        // The user wears an owned item. The service refuses an item that the user does not own.
        func wear(_ sesac: String, _ background: String) async throws -> Int {
            let form = ["sesac": sesac, "background": background]
            return try await call("POST", "/v1/user/shop/item", form, token: token, on: server).status
        }
        #expect(try await wear("1", "0") == 200)
        #expect(try await wear("4", "3") == 201)
        shop = try await info()
        #expect(shop.sesac == 1)
        #expect(shop.background == 0)

        // The token expires, and the client renews it.
        let old = try idToken(of: "mint", hoursAgo: 2)
        #expect(try await call("GET", "/v1/user/shop/myinfo", token: old, on: server).status == 401)
        let renewed = try idToken(of: "mint", hoursAgo: 0)
        let again = try await call("GET", "/v1/user/shop/myinfo", token: renewed, on: server)
        #expect(try again.decoded(SeedAppUser.self).sesac == 1)

        // The user withdraws.
        #expect(try await call("POST", "/v1/user/withdraw", token: token, on: server).status == 200)
        #expect(try await call("GET", "/v1/user", token: token, on: server).status == 406)
        #expect(try await call("POST", "/v1/user/withdraw", token: token, on: server).status == 406)
        #expect(try await call("POST", "/v1/user", signUp, token: token, on: server).status == 200)
        #expect(try await hand(first, "sprout1") == 201)
        #expect(await server.end(SIGTERM) == 0)
        #expect(try !server.log.contains("mint"))
    }

    @Test func `each error has the status that the app expects`() async throws {
        let receipt = try await receipt(buying: "sprout1", as: "mint", with: till)
        let server = try await ServeProcess(till, arguments)
        let token = try idToken(of: "mint")
        func status(
            _ method: String,
            _ path: String,
            _ form: [String: String] = [:],
            token: String
        ) async throws -> Int {
            try await call(method, path, form, token: token, on: server).status
        }
        let paths = [
            ("GET", "/v1/user"), ("POST", "/v1/user"), ("POST", "/v1/user/withdraw"), ("GET", "/v1/user/shop/myinfo"),
            ("POST", "/v1/user/shop/item"), ("POST", "/v1/user/shop/ios"),
        ]
        for (method, path) in paths {
            #expect(try await server.curl(path, options: ["--request", method]).status == 501, "\(method) \(path)")
            #expect(try await status(method, path, token: "x") == 401, "\(method) \(path)")
            let stranger = try await TestIssuer(rsaBits: 2048).token(at: Int64(Date.now.timeIntervalSince1970))
            #expect(try await status(method, path, token: stranger) == 401, "\(method) \(path)")
        }
        // The service has no members yet.
        let form = form(receipt: receipt, product: "sprout1")
        #expect(try await status("POST", "/v1/user/shop/ios", form, token: token) == 406)
        #expect(try await status("POST", "/v1/user/shop/item", ["sesac": "0", "background": "0"], token: token) == 406)
        #expect(try await status("POST", "/v1/user", token: token) == 501)
        #expect(try await status("POST", "/v1/user", ["nick": "민트"], token: token) == 501)
        for (field, wrong) in [
            ("gender", "f"), ("phoneNumber", nil), ("FCMtoken", String(repeating: "x", count: 5000)),
        ] {
            let fields = signUp.merging([field: wrong ?? ""]) { $1 }.filter { wrong != nil || $0.key != field }
            #expect(try await status("POST", "/v1/user", fields, token: token) == 501, "\(field)")
        }
        #expect(try await status("POST", "/v1/user", signUp, token: token) == 200)
        #expect(try await status("POST", "/v1/user/shop/item", ["sesac": "1"], token: token) == 501)
        #expect(try await status("POST", "/v1/user/shop/item", ["sesac": "x", "background": "0"], token: token) == 501)
        #expect(try await status("POST", "/v1/user/shop/ios", ["receipt": receipt], token: token) == 501)
        // This client does not encode a plus sign, although it means a space.
        let raw = "receipt=\(receipt)&product=com.memolease.sesac1.sprout1"
        let answer = try await server.curl(
            "/v1/user/shop/ios", body: raw, options: ["--header", "idtoken: \(token)"])
        #expect(answer.status == 200)
        // This client breaks lines.
        let broken = stride(from: 0, to: receipt.count, by: 64).map { receipt.dropFirst($0).prefix(64) }
            .joined(separator: "\r\n")
        let lines = self.form(receipt: broken, product: "sprout1")
        #expect(try await status("POST", "/v1/user/shop/ios", lines, token: token) == 200)
    }

    @Test func `the seed app is refused without the issuer of its tokens`() async throws {
        let result = try await till.run("serve", "--seed-app", "--port", "0")
        #expect(result.status == 1)
        #expect(result.error.contains("jwt-issuer"))
    }
}
