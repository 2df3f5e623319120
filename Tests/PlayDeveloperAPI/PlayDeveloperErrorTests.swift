import Foundation
import HTTPTypes
import PlayStore
import Proofs
import Service
import TestSupport
import Testing

/// The access tokens and the errors of the client, over a socket.
@Suite struct PlayDeveloperErrorTests {
    private static let path = "/purchases/"

    private let server: PlayServer
    private let client: PlayDeveloperClient

    init() async throws {
        server = try await PlayServer()
        client = try server.client()
    }

    /// The error of asking about a token.
    private func error(
        _ token: String, of client: PlayDeveloperClient? = nil, as kind: PlayDeveloperClient.Kind? = .product,
        within patience: PlayDeveloperClient.Patience = .quick
    ) async -> PlayDeveloperError? {
        do throws(PlayDeveloperError) {
            _ = try await (client ?? self.client).statement(about: token, as: kind, within: patience)
            return nil
        } catch {
            return error
        }
    }

    @Test func `an access token is asked for once, and kept until it ends`() async throws {
        let token = try server.buy().token
        let first = server.clock.now()
        await withTaskGroup { group in
            for _ in 0..<10 { group.addTask { #expect(await error(token) == nil) } }
        }
        #expect(server.tokenCount == 1)
        server.clock.advance(milliseconds: 3_538_000)
        #expect(await error(token) == nil)
        #expect(server.tokenCount == 1)
        // A minute before its end.
        server.clock.advance(milliseconds: 2000)
        #expect(await error(token) == nil)
        #expect(server.tokenCount == 2 && first < server.clock.now())
    }

    @Test func `a refused access token is renewed once`() async throws {
        let token = try server.buy().token
        #expect(await error(token) == nil)
        server.answer(Self.path, .error(401, "authError"))
        #expect(await error(token) == nil)
        #expect(server.tokenCount == 2)
        server.answer(Self.path, .error(401, "authError"), .error(401, "authError"))
        #expect(await error(token) == .accountRefused(status: 401, reason: "authError"))
        #expect(server.tokenCount == 3)
    }

    @Test func `an account without rights is refused, and another access token would not help`() async throws {
        let token = try server.buy().token
        let other = try server.client(server.account(for: ["com.example.other"]))
        let refused = await error(token, of: other)
        #expect(refused == .accountRefused(status: 401, reason: "permissionDenied"))
        #expect(refused?.rule.isOfOperator == true && refused?.rule.mayRetry == true)
        #expect(refused?.isOfToken == false)
        #expect(server.tokenCount == 1)
        for (status, reason) in [(403, "projectNotLinked"), (403, "userInsufficientPermission")] {
            server.answer(Self.path, .error(status, reason))
            #expect(await error(token) == .accountRefused(status: status, reason: reason))
        }
        let unknown = try server.client(of: "com.example.unknown")
        #expect(await error(token, of: unknown) == .accountRefused(status: 404, reason: "applicationNotFound"))
    }

    @Test func `a key that Google does not know gets no access token`() async throws {
        let elsewhere = try await PlayServer(newKey: PrivateKey.generateRSA)
        let key = try elsewhere.play.perform { try $0.makeServiceAccount(at: server.url) }
        let stranger = try server.client(GoogleServiceAccount(json: key.json()))
        let refused = await error("aaaabbbbccccddddeeeeffff", of: stranger)
        #expect(refused == .accountRefused(status: 400, reason: "invalid_grant"))
        #expect(server.count(Self.path) == 0)
    }

    @Test func `an unknown token, a text that is none, and one of another kind are of no purchase`() async throws {
        #expect(await error("aaaabbbbccccddddeeeeffff", as: nil) == .tokenUnknown)
        #expect(await error("GPA.1234-5678-9012-34567", as: nil) == .tokenUnknown)
        let asked = server.requests.count
        for text in ["", "a b", "é", "a/../b\n", ".", "..", String(repeating: "a", count: 513)] {
            #expect(await error(text, as: nil) == .tokenUnknown)
        }
        #expect(server.requests.count == asked)
        let (seeds, season) = (try server.buy().token, try server.subscribe().token)
        #expect(await error(seeds, as: .subscription) == .tokenUnknown)
        #expect(await error(season, as: .product) == .tokenUnknown)
        #expect(await error(seeds, as: nil) == nil)
        #expect(await error(season, as: nil) == nil)
        #expect(PlayDeveloperError.tokenUnknown.isOfToken && PlayDeveloperError.tokenUnknown.rule.mayRetry)
    }

    @Test func `a token is one segment of the path, whatever its characters`() async throws {
        _ = await error("a/../../b?c#d:acknowledge%2F", as: .product)
        let expected = "tokens/a%2F..%2F..%2Fb%3Fc%23d%3Aacknowledge%252F"
        #expect(server.requests.last?.hasSuffix(expected) == true, "\(server.requests)")
    }

    @Test func `a token of another app is told apart`() async throws {
        let token = try server.buy().token
        let other = try server.client(of: "com.example.other")
        #expect(await error(token, of: other) == .notThisApp)
        #expect(await error(token, of: other, as: nil) == .notThisApp)
    }

    @Test func `an ended token is an end, and no failure`() async throws {
        server.answer(Self.path, .error(410, "purchaseTokenNoLongerValid"))
        #expect(await error("aaaabbbbccccddddeeeeffff") == .tokenEnded)
        // The other kind is asked, too, and knows nothing.
        server.answer(Self.path, .error(410, "purchaseTokenNoLongerValid"))
        #expect(await error("aaaabbbbccccddddeeeeffff", as: nil) == .tokenEnded)
        #expect(server.count(Self.path) == 3)
        #expect(!PlayDeveloperError.tokenEnded.rule.mayRetry && PlayDeveloperError.tokenEnded.isOfToken)
    }

    @Test func `a limit of the rate is waited for, if it is short`() async throws {
        let token = try server.buy().token
        let limited = PlayServer.Scripted.error(429, "rateLimitExceeded", headers: [.retryAfter: "0"])
        server.answer(Self.path, limited, limited)
        #expect(await error(token) == nil)
        #expect(server.count(Self.path) == 3)
        server.answer(Self.path, limited, limited, limited)
        #expect(await error(token) == .limited(seconds: 0))
        server.answer(Self.path, .error(429, "dailyLimitExceeded", headers: [.retryAfter: "3600"]))
        #expect(await error(token) == .limited(seconds: 3600))
        server.answer(Self.path, .error(403, "quotaExceeded", headers: [.retryAfter: "3600"]))
        #expect(await error(token) == .limited(seconds: 3600))
        #expect(server.count(Self.path) == 8)
        server.answer(Self.path, .error(429, "rateLimitExceeded", headers: [.retryAfter: "30"]))
        #expect(await error(token, within: .person) == .limited(seconds: 30))
        #expect(PlayDeveloperError.limited(seconds: 9).rule.secondsToWait == 9)
    }

    @Test(arguments: [500, 503, 409]) func `a failure of Google Play is retried`(status: Int) async throws {
        let token = try server.buy().token
        let failed = PlayServer.Scripted(status: status)
        server.answer(Self.path, failed, failed)
        #expect(await error(token) == nil)
        server.answer(Self.path, failed, failed, failed)
        #expect(await error(token) == .failed(status: status))
        #expect(server.count(Self.path) == 6)
        #expect(PlayDeveloperError.failed(status: status).rule.mayRetry)
    }

    @Test func `the address of access tokens may fail, too`() async throws {
        let token = try server.buy().token
        server.answer("/token", PlayServer.Scripted(status: 503))
        #expect(await error(token) == nil)
        for body in ["", "[]", #"{"access_token":5}"#, #"{"access_token":"a\r\nb","expires_in":9}"#] {
            let stranger = try server.client()
            server.answer("/token", PlayServer.Scripted(status: 200, body: Array(body.utf8)))
            guard case .answerInvalid = await error(token, of: stranger) else {
                Issue.record("\(body)")
                continue
            }
        }
    }

    @Test func `a server that does not listen or answer is unreachable`() async throws {
        let token = try server.buy().token
        let account = try server.account()
        let nobody = PlayDeveloperClient(
            account: account, url: try #require(URL(string: "http://127.0.0.1:1")),
            packageName: PlayServer.packageName, realm: .localPlay, clock: server.clock)
        #expect(await error(token, of: nobody) == .unreachable(host: "127.0.0.1"))
        #expect(await error(token) == nil)
        server.answer(Self.path, PlayServer.Scripted(status: 200, delay: .seconds(60)))
        let impatient = PlayDeveloperClient.Patience(answer: .milliseconds(200), delays: [])
        #expect(await error(token, within: impatient) == .unreachable(host: "127.0.0.1"))
    }

    @Test func `a redirect is not followed`() async throws {
        let token = try server.buy().token
        server.answer(Self.path, PlayServer.Scripted(status: 302, headers: [.location: "\(server.url)/elsewhere"]))
        #expect(await error(token) == .answerInvalid(reason: "It has the status 302."))
        #expect(server.count("elsewhere") == 0)
    }

    @Test func `an answer in another form or of another size is invalid`() async throws {
        let token = try server.buy().token
        let large = Array(repeating: UInt8(ascii: " "), count: GooglePlayAnswer.maximumSize + 1)
        for body in [large, [], Array("[]".utf8), Array("<html>".utf8), Array(#"{"orderId":5}"#.utf8)] {
            server.answer(Self.path, PlayServer.Scripted(status: 200, body: body))
            guard case .answerInvalid = await error(token) else {
                Issue.record("\(body.prefix(20))")
                continue
            }
        }
        #expect(server.count(Self.path) == 5)
        // A server that is not Google's knows neither the path nor the token.
        for status in [404, 410] {
            server.answer(Self.path, PlayServer.Scripted(status: status, body: Array("Not Found".utf8)))
            #expect(await error(token) == .answerInvalid(reason: "It has the status \(status)."))
        }
        server.answer(Self.path, .error(418, "teapot"))
        #expect(await error(token) == .refused(status: 418, reason: "teapot"))
    }

    @Test func `no error has the purchase token, a credential or a text of the answer`() async throws {
        let token = try server.buy().token
        let key = try server.play.perform { try $0.makeServiceAccount(at: server.url) }
        let stranger = try server.client(GoogleServiceAccount(json: key.json()))
        #expect(await error(token, of: stranger) == nil)
        for status in [200, 302, 400, 401, 403, 404, 409, 410, 418, 429, 500, 503] {
            // The answer repeats what it was asked.
            let body = """
                {"error":{"message":"\(token)","errors":[{"reason":"\(token) ya29.secret"}],"status":"Bearer ya29.secret"}}
                """
            let answer = PlayServer.Scripted(status: status, body: Array(body.utf8))
            server.answer(Self.path, answer, answer, answer)
            let error = await error(token, of: stranger)
            let texts = [error?.message, error?.rule.detail, error?.rule.korean, "\(String(reflecting: error))"]
            for text in texts.compactMap(\.self) {
                #expect(!text.contains(token) && !text.contains("ya29") && !text.contains("PRIVATE"), "\(status)")
            }
            server.clear()
        }
    }
}
