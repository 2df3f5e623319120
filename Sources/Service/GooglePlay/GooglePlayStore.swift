import Entitlements
import HTTPSupport
import Hummingbird
import Ledger
import Logging
import Proofs

/// Google Play, or a local one, as a store of the door: the service asks it about purchase tokens, and about signed purchases of its
/// apps, too. A statement counts more than a signature, which says nothing about refunds and paid periods.
struct GooglePlayStore: RedemptionDoor.Store {
    let apps: GooglePlayApps
    let entitlements: EntitlementService

    func verify(
        _ proof: [UInt8], from presenter: RedemptionDoor.Presenter
    ) async throws -> RedemptionDoor.Verification {
        if let token = try GooglePlayToken.presented(as: proof) {
            return .unstated(.init(app: token.packageName, identifier: token.purchaseToken))
        }
        guard let names = try await entitlements.tokenNames(for: proof) else { return .foreign }
        return try await BlockingWork.process(proof.count) {
            guard (try? SignedPurchase(json: proof)) != nil else { return .foreign }
            let verified = try entitlements.verify(proof, of: presenter.app)
            if let signed = verified.signedPurchase, apps[package: signed.packageName] != nil {
                return .unstated(.init(app: signed.packageName, identifier: signed.purchaseToken))
            }
            return .stated(try entitlements.statement(of: verified, in: proof, named: names))
        }
    }

    func ask(
        _ question: RedemptionDoor.Question, from presenter: RedemptionDoor.Presenter
    ) async throws -> RedemptionDoor.Statement {
        try await apps.app(named: question.app, among: presenter.app)
            .statement(about: question.identifier, from: presenter.network)
    }
}

extension RedemptionDoor {
    /// The door of a service, which asks Google Play and counts each redemption.
    ///
    /// - Parameters:
    ///   - googlePlay: The apps on Google Play about whose purchases the service asks.
    ///   - others: Further stores.
    package convenience init(
        _ entitlements: EntitlementService, asking googlePlay: GooglePlayApps, and others: [any Store] = [],
        counting metrics: ServiceMetrics,
        logger: Logger = Logger(label: "till", factory: { _ in SwiftLogNoOpLogHandler() })
    ) {
        let lines = LogLimit()
        self.init(
            entitlements,
            stores: others
                + (googlePlay.isEmpty ? [] : [GooglePlayStore(apps: googlePlay, entitlements: entitlements)])
        ) { result in
            switch result {
            case .success(let outcome): metrics.count(.redemptions, outcome.rawValue)
            case .failure(let error): metrics.count(.redemptions, "refused", code: Problem.code(of: error))
            }
        } onLostRefusal: { error in
            let code = Problem.code(of: error)
            logger.log(
                level: lines.level(.error, of: code, in: logger),
                "a refusal is not recorded, so support cannot explain it", metadata: ["code": "\(code)"])
        }
    }
}

extension ServiceContext {
    /// The client network of an app, with whichever credential, against which questions to Google Play count; nil for a back end.
    func appNetwork(of request: Request) -> ClientNetwork? {
        if case .backEnd = caller { nil } else { clientNetwork(of: request) }
    }
}

/// The apps of a service on Google Play that it may ask about.
package typealias GooglePlayApps = [GooglePlayApp]

extension GooglePlayApps {
    /// The app of a package name; nil if the service has no service account for it.
    package subscript(package name: String) -> GooglePlayApp? {
        first { $0.client.packageName.hasSameBytes(as: name) }
    }

    /// The app of a package name that a caller sends, or does not send.
    ///
    /// - Parameter app: The bundle identifier of the only app whose purchases the caller may send; nil for all apps.
    /// - Throws: `RedemptionError` if the name is of no app of the caller, or if it is missing although there are several.
    func app(named name: String?, among app: String?) throws(RedemptionError) -> GooglePlayApp {
        let own = filter { each in app.map(each.purchases.app.bundleIdentifier.hasSameBytes) ?? true }
        guard let name else {
            guard let only = own.first, own.count == 1 else {
                throw .refused(
                    own.isEmpty
                        ? ProofRefusal(.serviceAccountMissing)
                        : ProofRefusal(
                            .bundleIdentifierMismatch,
                            "The request names no app, and the service asks about several. Send packageName."))
            }
            return only
        }
        guard let named = own.first(where: { $0.client.packageName.hasSameBytes(as: name) }) else {
            throw .refused(
                ProofRefusal(
                    .bundleIdentifierMismatch,
                    "The service has no service account of Google Play for the package \"\(name.prefix(155))\"."))
        }
        return named
    }
}

extension GooglePlayToken {
    /// The purchase token that a caller presents instead of a proof; nil for a proof.
    static func presented(as proof: [UInt8]) throws(RedemptionError) -> GooglePlayToken? {
        do { return try GooglePlayToken(json: proof) } catch { throw .refused(error) }
    }
}
