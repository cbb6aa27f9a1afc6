// Dear ImGui's compile-time options, the same for every file that includes it.
#pragma once

#define IMGUI_DISABLE_OBSOLETE_FUNCTIONS
#define ImDrawIdx unsigned int  // a timeline of 100,000 spans has more than 65,536 vertices

// Lets widgets report their label and place to gui/shell/item_probe.cpp, which tests use to find them. Costs
// a test of a flag for each item while nobody listens.
#define IMGUI_ENABLE_TEST_ENGINE
