package page

// Path is where the console lives.
const Path = "/console/"
