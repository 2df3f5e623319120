import Foundation
import HTTPSupport
import Logging
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Users' tokens, compared with those of another library.
@Suite struct TokenOracleTests {
    private let clock = ManualClock()

    private static let rsa: [TokenAlgorithm] = [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]

    @Test(arguments: TokenAlgorithm.allCases)
    func `a token of another library identifies its user`(algorithm: TokenAlgorithm) async throws {
        let issuer = try OracleTokens.issuer(algorithm)
        let folder = try TemporaryFolder()
        try Data(TestIssuer.keySet([issuer.publicKey]).utf8).write(to: folder.file("keys.json"))
        let tokens = UserTokens(
            TokenSettings(
                issuer: TestIssuer.issuer, audiences: [(TestIssuer.audience, nil)],
                keys: .file(folder.file("keys.json")),
                algorithms: [algorithm]), clock: clock, logger: Logger(label: "test"))
        let alice = try #require(User(issuer: TestIssuer.issuer, name: "alice"))
        #expect(try await tokens.caller(presenting: issuer.token) == .app(alice, app: nil))

        // The claims are another user's, with the same header and signature.
        let parts = issuer.token.split(separator: ".")
        let claims = String(decoding: try #require(Base64.decode(parts[1].utf8, .urlSafe)), as: UTF8.self)
        let others = claims.replacing(#""sub":"alice""#, with: #""sub":"bob""#)
        #expect(others != claims)
        let forged = "\(parts[0]).\(Base64.encode(others.utf8, .urlSafe)).\(parts[2])"
        await #expect(throws: Problem.self) { try await tokens.caller(presenting: forged) }
        let otherAlgorithm = try OracleTokens.issuer(algorithm == .es256 ? .es384 : .es256)
        for strange in [issuer.strangersToken, otherAlgorithm.token] {
            await #expect(throws: Problem.self) { try await tokens.caller(presenting: strange) }
        }
        clock.advance(milliseconds: 600_000)
        await #expect(throws: Problem.self) { try await tokens.caller(presenting: issuer.token) }
    }

    /// The tests above and below hold this verification against another library, and it accepts a single signature by RSA of each message.
    /// `make test-apple` and `make test-google` show the service's own tokens to PyJWT and google-auth.
    @Test(arguments: [TokenAlgorithm.rs256, .rs384, .rs512, .es256])
    func `Till's signatures are those of the algorithm`(algorithm: TokenAlgorithm) throws {
        let signed = [#"{"alg":"\#(algorithm.rawValue)"}"#, #"{"sub":"alice"}"#]
            .map { Base64.encode($0.utf8, .urlSafe) }.joined(separator: ".")
        let message = Array(signed.utf8)
        let key = try algorithm == .es256 ? PrivateKey.generate(.p256) : TestChains.rsa.get().leaf.key
        let signature =
            switch algorithm {
            case .rs256: try key.signRSA(message, digest: .sha256)
            case .rs384: try key.signRSA(message, digest: .sha384)
            case .rs512: try key.signRSA(message, digest: .sha512)
            default: try key.signES256(message)
            }
        let token = try SignedToken(compact: Array((signed + "." + Base64.encode(signature, .urlSafe)).utf8))
        for verifying in TokenAlgorithm.allCases {
            guard let key = TokenKey(key.publicKey, for: verifying) else { continue }
            #expect(token.isSigned(by: key) == (verifying == algorithm), "\(verifying)")
        }
    }

    @Test(arguments: TokenAlgorithm.allCases)
    func `only the exact bytes of a signature are valid`(algorithm: TokenAlgorithm) throws {
        let issuer = try OracleTokens.issuer(algorithm)
        let (key, token) = (try issuer.tokenKey, issuer.token)
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
    @Test(arguments: rsa)
    func `an RSA signature keeps its leading zeros`(algorithm: TokenAlgorithm) throws {
        let issuer = try OracleTokens.issuer(algorithm)
        let key = try issuer.tokenKey
        let token = try #require(issuer.tokenWithLeadingZero)
        #expect(try SignedToken(compact: Array(token.utf8)).isSigned(by: key))
        let parts = token.split(separator: ".")
        let signature = try #require(Base64.decode(parts[2].utf8, .urlSafe))
        #expect(signature.first == 0)
        let stripped = "\(parts[0]).\(parts[1])." + Base64.encode(signature.dropFirst(), .urlSafe)
        #expect(try !SignedToken(compact: Array(stripped.utf8)).isSigned(by: key))
    }

    @Test func `a key verifies only its own algorithm, whatever the token's header names`() throws {
        let genuine = try Self.rsa.map { algorithm in
            OracleTokens.Misnamed(
                signing: algorithm.rawValue, named: algorithm.rawValue, token: try OracleTokens.issuer(algorithm).token)
        }
        for example in try genuine + OracleTokens.misnamed {
            let signed = try SignedToken(compact: Array(example.token.utf8))
            #expect(signed.algorithm == example.named)
            for verifying in Self.rsa {
                // All these algorithms use the same key.
                let key = try OracleTokens.issuer(verifying).tokenKey
                #expect(
                    signed.isSigned(by: key)
                        == (example.signing == example.named && example.named == verifying.rawValue),
                    "\(example.signing) as \(example.named) by \(verifying)")
            }
        }
    }

    @Test func `a key is usable only for algorithms of its kind`() throws {
        for keyAlgorithm in TokenAlgorithm.allCases {
            let key = try #require(PublicKey(jwk: try OracleTokens.issuer(keyAlgorithm).publicKey))
            for algorithm in TokenAlgorithm.allCases {
                let areOfOneKind = algorithm == keyAlgorithm || Set([algorithm, keyAlgorithm]).isSubset(of: Self.rsa)
                #expect((TokenKey(key, for: algorithm) != nil) == areOfOneKind, "\(keyAlgorithm), \(algorithm)")
            }
        }
    }

    @Test(arguments: ["none", "None", "HS256", "rs256", "", "RS256 "])
    func `no other algorithm is known`(name: String) throws {
        #expect(TokenAlgorithm(rawValue: name) == nil)
        let misnamed = try #require(try OracleTokens.misnamed.first { $0.named == name })
        let token = try SignedToken(compact: Array(misnamed.token.utf8))
        #expect(try !token.isSigned(by: OracleTokens.issuer(.rs256).tokenKey))
    }

    @Test func `each pair of RSA algorithms has a token with the wrong name`() throws {
        let pairs = try OracleTokens.misnamed.map { "\($0.signing) \($0.named)" }
        for signing in Self.rsa {
            for named in Self.rsa where named != signing {
                #expect(pairs.contains("\(signing.rawValue) \(named.rawValue)"))
            }
        }
    }
}
