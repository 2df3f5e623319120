/// The issuer and the environment of a proof.
///
/// The anchor of the proof's chain, or the key of the app on Google Play, determines the issuer. The signed content determines the environment.
/// The service accepts only its configured origins. No origin replaces another.
public enum Origin: String, Sendable, Codable, CaseIterable {
    case appleProduction = "apple/Production"
    case appleSandbox = "apple/Sandbox"
    case xcode = "xcode"
    case localProduction = "local/Production"
    case localSandbox = "local/Sandbox"
    case googleProduction = "google/Production"
    case googleTest = "google/Test"
    case localPlayProduction = "localPlay/Production"
    case localPlayTest = "localPlay/Test"

    /// - Returns: Nil if the realm cannot sign for the environment, such as Xcode's certificate for Production.
    public init?(realm: Realm, environment: AppStoreEnvironment) {
        switch (realm, environment) {
        case (.apple, .production): self = .appleProduction
        case (.apple, .sandbox): self = .appleSandbox
        case (.xcode, .xcode): self = .xcode
        case (.local, .production): self = .localProduction
        case (.local, .sandbox): self = .localSandbox
        case (.google, .production): self = .googleProduction
        case (.google, .sandbox): self = .googleTest
        case (.localPlay, .production): self = .localPlayProduction
        case (.localPlay, .sandbox): self = .localPlayTest
        default: return nil
        }
    }

    /// The store that sells the purchases, itself or as a local one.
    package var store: PurchaseStore { isGooglePlay ? .playStore : .appStore }

    /// True for purchases of Google Play, or of a local one.
    package var isGooglePlay: Bool {
        switch self {
        case .googleProduction, .googleTest, .localPlayProduction, .localPlayTest: true
        case .appleProduction, .appleSandbox, .xcode, .localProduction, .localSandbox: false
        }
    }

    /// True for test purchases, which cost no money.
    package var isSandbox: Bool {
        switch self {
        case .appleProduction, .localProduction, .googleProduction, .localPlayProduction: false
        case .appleSandbox, .localSandbox, .xcode, .googleTest, .localPlayTest: true
        }
    }

    /// The origins that the service accepts by default: those of a local App Store and of a local Google Play.
    public static let defaultAccepted: Set<Origin> = [
        .localProduction, .localSandbox, .localPlayProduction, .localPlayTest,
    ]
}

extension Set<Origin> {
    /// The production of a store among these origins, and another origin, whose purchases cost nothing; nil unless there are both.
    ///
    /// Anybody who reaches a local store mints purchases there, and testers of any store buy for nothing.
    package var freeBesideProduction: (production: Origin, free: Origin)? {
        let production = intersection([.appleProduction, .googleProduction])
        let (first, free) = (production.min { $0.rawValue < $1.rawValue }, subtracting(production))
        guard let first, let free = free.min(by: { $0.rawValue < $1.rawValue }) else { return nil }
        return (first, free)
    }
}

/// A store. The raw value is the word in exports and figures.
package enum PurchaseStore: String, Sendable, CaseIterable {
    case appStore = "app_store"
    case playStore = "play_store"

    /// The company that sells there, and that returns the money.
    package var company: String { self == .appStore ? "Apple" : "Google" }

    /// The address at which customers ask for their money.
    package var refundAddress: String {
        switch self {
        case .appStore: "https://reportaproblem.apple.com"
        case .playStore: "https://play.google.com/store/account/orderhistory"
        }
    }
}

/// The store environment that a proof states (App Store Server API, `environment`).
public enum AppStoreEnvironment: String, Sendable, Codable, CaseIterable {
    case production = "Production"
    case sandbox = "Sandbox"
    case xcode = "Xcode"
    case localTesting = "LocalTesting"
}

/// The owner of a trust anchor or of the key of an app: Apple, Xcode's StoreKit testing, Google Play, or a local store.
public enum Realm: String, Sendable, Codable, CaseIterable {
    case apple
    case xcode
    case local
    case google
    case localPlay
}

extension Origin {
    /// The origin of a purchase of Google Play, or of a local one.
    package init(googlePlay realm: Realm, isTest: Bool) {
        if realm == .localPlay {
            self = isTest ? .localPlayTest : .localPlayProduction
        } else {
            self = isTest ? .googleTest : .googleProduction
        }
    }
}
