import Console
import Proofs
import Service

/// The running service, as the console shows it.
struct ServiceSystem: ConsoleSystem {
    let configuration: ServeConfiguration
    let appStores: AppStoreServices
    let health: any HealthSource

    var version: String { Till.version }
}
