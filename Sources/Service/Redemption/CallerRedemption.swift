import Entitlements
import HTTPSupport
import Hummingbird
import Ledger
import Proofs

extension RedemptionDoor {
    /// The door of a service, which asks Google Play and counts each redemption.
    ///
    /// - Parameter googlePlay: The apps on Google Play about whose purchases the service asks.
    package convenience init(
        _ entitlements: EntitlementService, asking googlePlay: GooglePlayApps, counting metrics: ServiceMetrics
    ) {
        self.init(
            entitlements,
            stores: googlePlay.isEmpty ? [] : [GooglePlayStore(apps: googlePlay, entitlements: entitlements)]
        ) { result in
            switch result {
            case .success(let outcome): metrics.count(.redemptions, outcome.rawValue)
            case .failure(let error): metrics.count(.redemptions, "refused", code: Problem.code(of: error))
            }
        }
    }
}

extension RedemptionRequest {
    /// The request of a caller.
    ///
    /// - Parameter app: The bundle identifier of the only app whose proofs the caller may send; nil for that of the caller.
    convenience init(
        _ proof: [UInt8], for user: User?, by caller: Caller, of app: String? = nil, at network: ClientNetwork? = nil,
        newcomers: NewcomerAllowance? = nil, keeping: Keeping? = nil, withItems: Bool = true,
        refusals: Refusals = .recorded
    ) {
        self.init(
            proof, for: user, by: caller.actor, of: app ?? caller.app, seeing: caller.limitingApp, at: network,
            newcomers: newcomers, keeping: keeping, withItems: withItems, refusals: refusals)
    }
}

extension ServiceContext {
    /// The client network of an app, with whichever credential, against which questions to Google Play count; nil for a back end.
    func appNetwork(of request: Request) -> ClientNetwork? {
        if case .backEnd = caller { nil } else { clientNetwork(of: request) }
    }
}
