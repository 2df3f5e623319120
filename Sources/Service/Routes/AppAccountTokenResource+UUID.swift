import Foundation

extension AppAccountTokenResource {
    init(_ token: UUID) {
        self.init(appAccountToken: token.uuidString.lowercased())
    }
}
