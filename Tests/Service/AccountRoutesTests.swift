import AppStore
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The service's own accounts, over HTTP.
@Suite struct AccountRoutesTests {
    let fixture: ServiceFixture

    init() async throws {
        fixture = try await ServiceFixture()
    }

    private func post(
        _ path: String,
        _ fields: [String: String],
        token: String = "",
        headers: HTTPFields = [:]
    ) async throws -> ServiceFixture.Answer {
        let body = String(decoding: try JSONEncoder().encode(fields), as: UTF8.self)
        return try await fixture.send(.post, path, body: body, key: token, headers: headers)
    }

    private func signUp(
        _ email: String = "mint@example.com",
        _ password: String = "correct horse"
    ) async throws -> EntranceResource {
        let answer = try await post("/v1/accounts", ["email": email, "password": password])
        #expect(answer.status == 201)
        #expect(answer.headers[.cacheControl] == "no-store")
        return try answer.decoded()
    }

    private func get(_ path: String, _ token: String) async throws -> ServiceFixture.Answer {
        try await fixture.send(.get, path, key: token)
    }

    @Test func `a new user can redeem, and the back end sees the items`() async throws {
        let entrance = try await signUp()
        let token = entrance.tokens.accessToken
        let bought = try fixture.buy("sprout1")
        let signed = try fixture.shop.store.signedTransaction(bought.identifier)
        let redeemed = try await post("/v1/me/transactions", ["signedTransaction": signed], token: token)
        #expect(try redeemed.decoded(Redemption.self).outcome == .granted)
        let items = try await get("/v1/me/items", token)
        #expect(try items.decoded(List<OwnedItemResource>.self).elements.count == 3)
        let named = try await fixture.send(.get, "/v1/users/\(entrance.account.accountId)/items?issuer=till")
        #expect(named.body == items.body)
        // The same name without an issuer is another user, of the back end.
        let other = try await fixture.send(.get, "/v1/users/\(entrance.account.accountId)/items")
        #expect(other.body != items.body)

        let account = try await get("/v1/me/account", token)
        #expect(try account.decoded(AccountResource.self).email == "mint@example.com")
        let again = try await post("/v1/sessions", ["email": "MINT@example.com", "password": "correct horse"])
        #expect(again.status == 201)
        let second: EntranceResource = try again.decoded()
        #expect(second.account.accountId == entrance.account.accountId)
        #expect(second.tokens.accessToken != token)
        #expect(try await get("/v1/me/items", second.tokens.accessToken).body == items.body)
        #expect(try await get("/v1/users/x/items", token).code == "keyRequired")
    }

    @Test(
        arguments: [
            ("a@b", "correct horse", 422, "emailInvalid"), ("a@b.co", "short", 422, "passwordTooShort"),
            ("a@b.co", "password1", 422, "passwordTooCommon"),
            ("sproutlover@b.co", "sproutlover", 422, "passwordLikeEmail"),
            ("a@b.co", String(repeating: "x1", count: 200), 422, "passwordTooLong"),
            ("a@" + String(repeating: "b.", count: 200) + "co", "correct horse", 422, "emailTooLong"),
            ("Taken@example.com", "correct horse", 409, "emailTaken"),
        ])
    func `each rule of sign-up has its code`(email: String, password: String, status: Int, code: String) async throws {
        _ = try await signUp("taken@example.com")
        let answer = try await post("/v1/accounts", ["email": email, "password": password])
        #expect(answer.status == status)
        #expect(answer.code == code)
        #expect(!String(decoding: answer.body, as: UTF8.self).contains(password))
    }

    @Test(arguments: ["{}", "{\"email\":1,\"password\":\"correct horse\"}", "[]", "", "{\"email\":\"a@b.co\"}"])
    func `a missing field is named`(body: String) async throws {
        for path in ["/v1/accounts", "/v1/sessions", "/v1/sessions/renewal", "/v1/sessions/end"] {
            let answer = try await fixture.send(.post, path, body: body, key: "")
            #expect(answer.status == 400)
            #expect(answer.code == "bodyInvalid")
        }
        let large = "{\"email\":\"" + String(repeating: "a", count: 9000) + "\"}"
        #expect(try await fixture.send(.post, "/v1/accounts", body: large, key: "").code == "bodyTooLarge")
    }

    @Test func `an address is free until it is taken`() async throws {
        func isAvailable(_ email: String) async throws -> Bool {
            let answer = try await post("/v1/accounts/availability", ["email": email])
            return try answer.decoded(AvailabilityResource.self).isAvailable
        }
        #expect(try await isAvailable("mint@example.com") == true)
        _ = try await signUp()
        #expect(try await isAvailable("Mint@example.com") == false)
        #expect(try await post("/v1/accounts/availability", ["email": "mint"]).code == "emailInvalid")
    }

    /// The answer to a guess reveals nothing about the accounts.
    @Test func `a wrong password and an unknown address get the same answer`() async throws {
        _ = try await signUp()
        var answers: [ServiceFixture.Answer] = []
        for email in ["mint@example.com", "nobody@example.com", "no address"] {
            answers.append(try await post("/v1/sessions", ["email": email, "password": "correct hors"]))
        }
        #expect(answers.allSatisfy { $0.status == 401 && $0.code == "credentialsWrong" })
        #expect(Set(answers.map(\.body)).count == 1)
    }

    @Test func `guesses are limited per account, existing or not`() async throws {
        _ = try await signUp()
        for email in ["mint@example.com", "nobody@example.com"] {
            for _ in 0..<10 {
                #expect(try await post("/v1/sessions", ["email": email, "password": "x"]).status == 401)
            }
            let answer = try await post("/v1/sessions", ["email": email.uppercased(), "password": "correct horse"])
            #expect(answer.status == 429)
            #expect(answer.code == "tooManyAttempts")
            #expect(answer.headers[.retryAfter] == "60")
        }
        fixture.shop.clock.advance(milliseconds: 59_999)
        func status(_ password: String) async throws -> Int {
            try await post("/v1/sessions", ["email": "mint@example.com", "password": password]).status
        }
        #expect(try await status("correct horse") == 429)
        fixture.shop.clock.advance(milliseconds: 1)
        // A successful log-in is not a guess.
        for _ in 0..<3 { #expect(try await status("correct horse") == 201) }
        #expect(try await status("x") == 401)
        #expect(try await status("correct horse") == 429)
    }

    @Test func `guesses are limited per account in any spelling`() async throws {
        _ = try await signUp()
        for number in 0..<10 {
            let email =
                String(repeating: number.isMultiple(of: 2) ? " " : "\u{3000}", count: number) + "Mint@example.com"
            #expect(try await post("/v1/sessions", ["email": email, "password": "x"]).status == 401)
        }
        let answer = try await post("/v1/sessions", ["email": "mint@example.com ", "password": "correct horse"])
        #expect(answer.code == "tooManyAttempts")
    }

    /// A stranger's guesses may block log-ins for a while. They do not block the owner's existing session.
    @Test func `a stranger's guesses do not lock out a logged-in user`() async throws {
        let entrance = try await signUp()
        for _ in 0..<10 { _ = try await post("/v1/sessions", ["email": "mint@example.com", "password": "x"]) }
        let token = entrance.tokens.accessToken
        for _ in 0..<10 {
            #expect(try await post("/v1/me/erasure", ["password": "x"], token: token).code == "passwordWrong")
        }
        let tooMany = try await post("/v1/me/erasure", ["password": "correct horse"], token: token)
        #expect(tooMany.code == "tooManyAttempts")
        fixture.shop.clock.advance(milliseconds: 60_000)
        #expect(try await post("/v1/me/erasure", ["password": "correct horse"], token: token).status == 204)
    }

    /// Strangers at the same client address block neither renewal nor log-out.
    @Test func `renewal and log-out are not limited by others at the same address`() async throws {
        let entrance = try await signUp()
        for number in 0..<40 {
            _ = try await post("/v1/sessions", ["email": "\(number)@example.com", "password": "x"])
            #expect(try await post("/v1/sessions/renewal", ["refreshToken": "x"]).status == 401)
        }
        #expect(try await post("/v1/sessions", ["email": "x@example.com", "password": "x"]).status == 429)
        let renewed: RenewalResource = try await post(
            "/v1/sessions/renewal", ["refreshToken": entrance.tokens.refreshToken]
        ).decoded()
        // Log-out is sent twice, because an answer may be lost.
        for _ in 0..<2 {
            let left = try await post("/v1/sessions/end", ["refreshToken": renewed.tokens.refreshToken])
            #expect(left.status == 204)
        }
        let gone = try await post("/v1/sessions/renewal", ["refreshToken": renewed.tokens.refreshToken])
        #expect(gone.code == "refreshTokenInvalid")
    }

    /// The seed's own app erases users without a password. Accounts need one.
    @Test func `an account cannot use the routes of the seed's app`() async throws {
        let entrance = try await signUp()
        let name = try #require(HTTPField.Name("idtoken"))
        for (method, path) in [(HTTPRequest.Method.get, "/v1/user"), (.post, "/v1/user/withdraw")] {
            let answer = try await fixture.send(
                method, path, key: "", headers: [name: entrance.tokens.accessToken])
            #expect(answer.status == 401)
        }
        #expect(try await get("/v1/me/items", entrance.tokens.accessToken).status == 200)
    }

    @Test func `guesses are limited per client address across accounts`() async throws {
        let fixture = try await ServiceFixture(proxies: 1)
        let name = try #require(HTTPField.Name("X-Forwarded-For"))
        func expect(_ code: String, _ number: Int, from address: String) async throws {
            let body = "{\"email\":\"\(number)@example.com\",\"password\":\"x\"}"
            let answer = try await fixture.send(.post, "/v1/sessions", body: body, key: "", headers: [name: address])
            #expect(answer.code == code, "attempt \(number) from \(address)")
        }
        for number in 0..<30 {
            // Anyone may have written the entries further left. All addresses of an IPv6 prefix belong to one customer.
            let address =
                number.isMultiple(of: 2) ? "\(number).0.0.1, 2001:db8::\(number)" : "2001:db8:0:0:1:2:3:\(number)"
            try await expect("credentialsWrong", number, from: address)
        }
        try await expect("tooManyAttempts", 30, from: "2001:db8::ffff")
        try await expect("credentialsWrong", 31, from: "2001:db8:0:1::1")
        try await expect("credentialsWrong", 32, from: "::ffff:192.0.2.1")
        // One client address in several spellings of proxies.
        let spellings = ["::ffff:192.0.2.1", "192.0.2.1", "192.0.2.1:51234", "[::ffff:192.0.2.1]:443"]
        for number in 33..<62 { try await expect("credentialsWrong", number, from: spellings[number % 4]) }
        for spelling in spellings { try await expect("tooManyAttempts", 62, from: spelling) }
        try await expect("credentialsWrong", 63, from: "::ffff:192.0.2.2")
    }

    @Test func `guesses of one network lock nobody out at another`() async throws {
        let fixture = try await ServiceFixture(proxies: 1)
        let name = try #require(HTTPField.Name("X-Forwarded-For"))
        func answer(_ path: String, _ password: String, from address: String) async throws -> ServiceFixture.Answer {
            try await fixture.send(
                .post, path, body: #"{"email":"mint@example.com","password":"\#(password)"}"#, key: "",
                headers: [name: address])
        }
        #expect(try await answer("/v1/accounts", "correct horse", from: "198.51.100.1").status == 201)
        for number in 0..<50 {
            let code = try await answer("/v1/sessions", "x", from: "2001:db8:1:\(number)::1").code
            #expect(code == (number < 10 ? "credentialsWrong" : "tooManyAttempts"))
        }
        #expect(try await answer("/v1/sessions", "correct horse", from: "198.51.100.1").status == 201)
        #expect(try await answer("/v1/sessions", "correct horse", from: "2001:db8:1:99::1").code == "tooManyAttempts")
    }

    @Test func `tokens are renewed, and an expired one differs from an invalid one`() async throws {
        let entrance = try await signUp()
        fixture.shop.clock.advance(milliseconds: 15 * 60_000)
        let old = try await get("/v1/me/items", entrance.tokens.accessToken)
        #expect(old.status == 401)
        #expect(old.code == "tokenExpired")
        let renewed = try await post("/v1/sessions/renewal", ["refreshToken": entrance.tokens.refreshToken])
        #expect(renewed.status == 200)
        let tokens: RenewalResource = try renewed.decoded()
        #expect(try await get("/v1/me/items", tokens.tokens.accessToken).status == 200)
        #expect(try await get("/v1/me/items", tokens.tokens.accessToken + "x").code == "tokenInvalid")
        #expect(try await get("/v1/me/items", tokens.tokens.refreshToken).code == "keyInvalid")

        let reused = try await post("/v1/sessions/renewal", ["refreshToken": entrance.tokens.refreshToken])
        #expect(reused.status == 401)
        #expect(reused.code == "refreshTokenReused")
        #expect(try await get("/v1/me/items", tokens.tokens.accessToken).code == "tokenInvalid")
        let last = try await post("/v1/sessions/renewal", ["refreshToken": tokens.tokens.refreshToken])
        #expect(last.code == "refreshTokenInvalid")
    }

    @Test func `log-out ends the session`() async throws {
        let entrance = try await signUp()
        #expect(try await post("/v1/sessions/end", ["refreshToken": entrance.tokens.refreshToken]).status == 204)
        #expect(try await get("/v1/me/items", entrance.tokens.accessToken).code == "tokenInvalid")
        #expect(try await post("/v1/sessions/end", ["refreshToken": "x"]).code == "refreshTokenInvalid")
    }

    @Test func `a password change needs the old password`() async throws {
        let here = try await signUp()
        let there: EntranceResource = try await post(
            "/v1/sessions", ["email": "mint@example.com", "password": "correct horse"]
        ).decoded()
        func change(_ old: String, _ new: String) async throws -> ServiceFixture.Answer {
            let body = "{\"password\":\"\(old)\",\"newPassword\":\"\(new)\"}"
            return try await fixture.send(
                .put, "/v1/me/account/password", body: body, key: here.tokens.accessToken)
        }
        #expect(try await change("wrong", "battery staple").code == "passwordWrong")
        #expect(try await change("correct horse", "short").code == "passwordTooShort")
        #expect(try await change("correct horse", "battery staple").status == 204)
        #expect(try await get("/v1/me/items", here.tokens.accessToken).status == 200)
        #expect(try await get("/v1/me/items", there.tokens.accessToken).code == "tokenInvalid")
        let old = try await post("/v1/sessions", ["email": "mint@example.com", "password": "correct horse"])
        #expect(old.code == "credentialsWrong")
        let new = try await post("/v1/sessions", ["email": "mint@example.com", "password": "battery staple"])
        #expect(new.status == 201)
    }

    @Test func `erasure removes the name, and the receipts stay redeemed`() async throws {
        let entrance = try await signUp()
        let token = entrance.tokens.accessToken
        let path = "/v1/users/\(entrance.account.accountId)"
        let signed = try fixture.shop.store.signedTransaction(try fixture.buy("sprout1").identifier)
        _ = try await post("/v1/me/transactions", ["signedTransaction": signed], token: token)
        let grant = "{\"item\":{\"collection\":\"background\",\"number\":2},\"reason\":\"for Mint of Seoul\"}"
        let idempotency = try #require(HTTPField.Name("Idempotency-Key"))
        let granted = try await fixture.send(
            .post, "\(path)/grants?issuer=till", body: grant, headers: [idempotency: "1"])
        #expect(granted.status == 201)

        let archive = try await get("/v1/me/export", token)
        let text = String(decoding: archive.body, as: UTF8.self)
        for word in ["mint@example.com", "sprout1", "for Mint of Seoul", "itemGiven", entrance.account.accountId] {
            #expect(text.contains(word), "\(word)")
        }
        #expect(!text.contains("scrypt"))

        #expect(try await post("/v1/me/erasure", [:], token: token).code == "bodyInvalid")
        #expect(try await post("/v1/me/erasure", ["password": "x"], token: token).code == "passwordWrong")
        #expect(try await get("/v1/me/items", token).status == 200)
        let left = try await post("/v1/me/erasure", ["password": "correct horse"], token: token)
        #expect(left.status == 204)
        #expect(try await get("/v1/me/items", token).code == "tokenInvalid")
        let again = try await post("/v1/sessions", ["email": "mint@example.com", "password": "correct horse"])
        #expect(again.code == "credentialsWrong")
        #expect(try await fixture.send(.get, "\(path)/export?issuer=till").code == "userNotFound")

        // The address can sign up again. The receipt stays redeemed under a tombstone.
        let anew = try await signUp()
        #expect(anew.account.accountId != entrance.account.accountId)
        let redeemed = try await post(
            "/v1/me/transactions", ["signedTransaction": signed], token: anew.tokens.accessToken)
        #expect(redeemed.status == 409)
        #expect(redeemed.code == "ownedByAnotherUser")
        let file = fixture.shop.folder.file("ledger.sqlite")
        #expect(try LedgerFile(file).check().problems == [])
        var exported = Data()
        _ = try fixture.ledger.export { exported.append($0) }
        let kept = String(decoding: exported, as: UTF8.self)
        #expect(!kept.contains("Mint of Seoul"))
        #expect(!kept.contains(entrance.account.accountId))
    }

    @Test func `a back end erases its own users`() async throws {
        let key = try await fixture.keys.make(name: "reader", scopes: [.read, .grant]).key
        #expect(try await fixture.send(.get, "/v1/users/bob/export", key: key).code == "scopeMissing")
        #expect(try await fixture.send(.post, "/v1/users/bob/erasure").code == "userNotFound")
        #expect(try await fixture.send(.put, "/v1/users/bob/account-token").status == 200)
        #expect(try await fixture.send(.post, "/v1/users/bob/erasure", key: key).code == "scopeMissing")
        #expect(try await fixture.send(.post, "/v1/users/bob/erasure").status == 204)
        #expect(try await fixture.send(.get, "/v1/users/bob/export").status == 404)
    }

    @Test func `a back end cannot name users of another issuer, or create accounts by naming them`() async throws {
        let till = try await fixture.send(.get, "/v1/users/alice/items?issuer=other")
        #expect(till.code == "parameterInvalid")
        // The data of a user whose issuer is no longer accepted can be exported and erased.
        #expect(try await fixture.send(.get, "/v1/users/alice/export?issuer=other").code == "userNotFound")
        // A back end cannot create an account by naming it.
        #expect(try await fixture.send(.get, "/v1/users/nobody?issuer=till").code == "userNotFound")
    }
}
