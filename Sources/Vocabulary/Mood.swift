/// The effect of something on a customer, which pages show as a color.
package enum Mood: String, Sendable {
    case good, bad, warning, neutral
}
