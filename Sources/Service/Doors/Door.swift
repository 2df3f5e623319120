/// A protocol of another purchase server. Its clients work with Till unmodified.
package enum Door: String, CaseIterable, Sendable {
    /// The SDKs of RevenueCat, through `Purchases.proxyURL`.
    case revenueCat = "revenuecat"
    /// cordova-plugin-purchase, through `store.validator`.
    case cordova
    /// react-native-iap and expo-iap, through `verifyPurchaseWithProvider`.
    case iapkit
}
