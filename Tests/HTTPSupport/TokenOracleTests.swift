import Foundation
import HTTPSupport
import JWTKit
import Logging
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Users' tokens, compared with jwt-kit.
@Suite struct TokenOracleTests {
    private let clock = ManualClock()

    private static let rsa: [TokenAlgorithm] = [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]

    @Test(arguments: TokenAlgorithm.allCases)
    func `a token of jwt-kit identifies its user`(algorithm: TokenAlgorithm) async throws {
        let issuer = try await OracleIssuer(algorithm)
        let folder = try TemporaryFolder()
        try Data(TestIssuer.keySet([issuer.publicKey]).utf8).write(to: folder.file("keys.json"))
        let tokens = UserTokens(
            TokenSettings(
                issuer: TestIssuer.issuer, audiences: [(TestIssuer.audience, nil)],
                keys: .file(folder.file("keys.json")),
                algorithms: [algorithm]), clock: clock, logger: Logger(label: "test"))
        let end = Date(timeIntervalSince1970: Double(clock.now().secondsSince1970) + 60)
        let claims = OracleIssuer.Claims(exp: ExpirationClaim(value: end))
        let token = try await issuer.token(claims)
        let alice = try #require(User(issuer: TestIssuer.issuer, name: "alice"))
        #expect(try await tokens.caller(presenting: token) == .app(alice, app: nil))

        // The claims are another user's, with the same key and algorithm.
        var others = claims
        others.sub = "bob"
        let parts = token.split(separator: ".")
        let forged = "\(parts[0]).\(try await issuer.token(others).split(separator: ".")[1]).\(parts[2])"
        await #expect(throws: Problem.self) { try await tokens.caller(presenting: forged) }
        let stranger = try await OracleIssuer(algorithm == .es256 ? .es384 : .es256)
        let strange = try await stranger.token(claims)
        await #expect(throws: Problem.self) { try await tokens.caller(presenting: strange) }
    }

    /// The algorithms with which a developer's server and the tests sign.
    @Test(arguments: [TokenAlgorithm.rs256, .rs384, .rs512, .es256])
    func `jwt-kit accepts Till's signatures`(algorithm: TokenAlgorithm) async throws {
        let end = Date.now.addingTimeInterval(60).timeIntervalSince1970.rounded()
        let payload =
            #"{"iss":"\#(TestIssuer.issuer)","sub":"alice","aud":"\#(TestIssuer.audience)","exp":\#(Int64(end))}"#
        let signed = [#"{"alg":"\#(algorithm.rawValue)"}"#, payload]
            .map { Base64.encode($0.utf8, .urlSafe) }.joined(separator: ".")
        let message = Array(signed.utf8)
        let keys = JWTKeyCollection()
        let signature: [UInt8]
        if algorithm == .es256 {
            let key = try PrivateKey.generate(.p256)
            signature = try key.signES256(message)
            await keys.add(ecdsa: try ES256PublicKey(pem: try key.publicKey.pem()))
        } else {
            let key = try TestChains.rsa.get().leaf.key
            let publicKey = try Insecure.RSA.PublicKey(pem: try key.publicKey.pem())
            switch algorithm {
            case .rs256:
                signature = try key.signRSA(message, digest: .sha256)
                await keys.add(rsa: publicKey, digestAlgorithm: .sha256)
            case .rs384:
                signature = try key.signRSA(message, digest: .sha384)
                await keys.add(rsa: publicKey, digestAlgorithm: .sha384)
            default:
                signature = try key.signRSA(message, digest: .sha512)
                await keys.add(rsa: publicKey, digestAlgorithm: .sha512)
            }
        }
        let token = signed + "." + Base64.encode(signature, .urlSafe)
        let claims = try await keys.verify(token, as: OracleIssuer.Claims.self)
        #expect((claims.sub, claims.exp.value.timeIntervalSince1970) == ("alice", end))
    }

    @Test(arguments: TokenAlgorithm.allCases)
    func `only the exact bytes of a signature are valid`(algorithm: TokenAlgorithm) async throws {
        let issuer = try await OracleIssuer(algorithm)
        let key = try issuer.tokenKey
        let header = #"{"alg":"\#(algorithm.rawValue)"}"#
        let token = try await issuer.token(header: header)
        #expect(try SignedToken(compact: Array(token.utf8)).isSigned(by: key))
        let signed = token.prefix(upTo: try #require(token.lastIndex(of: ".")))
        let signature = try #require(Base64.decode(token.dropFirst(signed.count + 1).utf8, .urlSafe))
        func isAccepted(_ forged: [UInt8]) throws -> Bool {
            let token = "\(signed)." + Base64.encode(forged, .urlSafe)
            return try SignedToken(compact: Array(token.utf8)).isSigned(by: key)
        }
        #expect(try isAccepted(signature))
        for index in signature.indices {
            var forged = signature
            forged[index] ^= 0x80
            #expect(try !isAccepted(forged), "byte \(index)")
        }
        let zeros = [UInt8](repeating: 0, count: signature.count)
        let ones = [UInt8](repeating: 0xFF, count: signature.count)
        let half = signature.count / 2
        let forgeries: [[UInt8]] = [
            [], zeros, ones, Array(signature.dropFirst()), Array(signature.dropLast()), signature + [0],
            [0] + signature, Array(signature.prefix(half)), zeros.prefix(half) + signature.suffix(half),
            signature.prefix(half) + zeros.suffix(half), signature.suffix(half) + signature.prefix(half),
        ]
        for forged in forgeries { #expect(try !isAccepted(forged), "\(forged.count) bytes") }
    }

    /// OpenSSL accepts the number without its leading zeros.
    @Test(arguments: [TokenAlgorithm.rs256, .ps256])
    func `an RSA signature keeps its leading zeros`(algorithm: TokenAlgorithm) async throws {
        let issuer = try await OracleIssuer(algorithm)
        let key = try issuer.tokenKey
        var found: SignedToken?
        for number in 0..<10_000 {
            let token = try await issuer.token(
                header: #"{"alg":"\#(algorithm.rawValue)"}"#, payload: #"{"n":\#(number)}"#)
            let parts = token.split(separator: ".")
            let signature = try #require(Base64.decode(parts[2].utf8, .urlSafe))
            guard signature.first == 0 else { continue }
            #expect(try SignedToken(compact: Array(token.utf8)).isSigned(by: key))
            let stripped = "\(parts[0]).\(parts[1])." + Base64.encode(signature.dropFirst(), .urlSafe)
            found = try SignedToken(compact: Array(stripped.utf8))
            break
        }
        #expect(try !#require(found).isSigned(by: key))
    }

    @Test func `a key verifies only its own algorithm, whatever the token's header names`() async throws {
        for signing in Self.rsa {
            for named in Self.rsa {
                // Both algorithms use the same key.
                let token = try await OracleIssuer(signing).token(header: #"{"alg":"\#(named.rawValue)"}"#)
                let signed = try SignedToken(compact: Array(token.utf8))
                for verifying in Self.rsa {
                    let key = try await OracleIssuer(verifying).tokenKey
                    #expect(signed.isSigned(by: key) == (signing == named && named == verifying))
                }
            }
        }
    }

    @Test func `a key is usable only for algorithms of its kind`() async throws {
        for keyAlgorithm in TokenAlgorithm.allCases {
            let issuer = try await OracleIssuer(keyAlgorithm)
            let key = try #require(PublicKey(jwk: issuer.publicKey))
            for algorithm in TokenAlgorithm.allCases {
                let areOfOneKind = algorithm == keyAlgorithm || Set([algorithm, keyAlgorithm]).isSubset(of: Self.rsa)
                #expect((TokenKey(key, for: algorithm) != nil) == areOfOneKind, "\(keyAlgorithm), \(algorithm)")
            }
        }
    }

    @Test(arguments: ["none", "None", "HS256", "rs256", "", "RS256 "])
    func `no other algorithm is known`(name: String) async throws {
        #expect(TokenAlgorithm(rawValue: name) == nil)
        let issuer = try await OracleIssuer(.rs256)
        let token = try SignedToken(compact: Array(try await issuer.token(header: #"{"alg":"\#(name)"}"#).utf8))
        #expect(try !token.isSigned(by: issuer.tokenKey))
    }
}
